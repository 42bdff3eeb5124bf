//! From the text of a line to messages, or to the errors that are owed for it.

use rmcp::model::{
    CallToolRequest, CancelledNotification, ClientJsonRpcMessage, ClientNotification,
    ClientRequest, DiscoverRequest, ErrorCode, ErrorData, GetPromptRequest, InitializeRequest,
    InitializedNotification, ListPromptsRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, ListToolsRequest, PingRequest, ProgressNotification, ReadResourceRequest,
    RequestId, RootsListChangedNotification,
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What one line holds.
#[derive(Debug)]
pub(super) enum Content {
    /// Nothing but white space.
    Blank,
    One(Message),
    /// A JSON-RPC batch with at least one member.
    Batch(Vec<Message>),
}

/// One message.
#[derive(Debug)]
pub(super) enum Message {
    /// To be answered under the id.
    Request(RequestId, Box<ClientRequest>),
    /// Not to be answered: a notification, or the client's response.
    Told(Box<ClientJsonRpcMessage>),
    /// Not to be answered and of no meaning to the server.
    Ignored,
    /// To be answered with the error; the id is `None` where none can be read.
    Rejected(Option<RequestId>, ErrorData),
}

/// Reads the text of one line.
///
/// A byte order mark and white space around the message, a carriage return among it, are
/// passed over.
pub(super) fn read(line: &[u8]) -> Content {
    let text = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if text.is_empty() {
        return Content::Blank;
    }
    match parse(text) {
        Ok(Value::Array(members)) if members.is_empty() => Content::One(Message::Rejected(
            None,
            ErrorData::invalid_request("Invalid request: the batch is empty", None),
        )),
        Ok(Value::Array(members)) => Content::Batch(members.into_iter().map(message).collect()),
        Ok(value) => Content::One(message(value)),
        Err(error) => Content::One(Message::Rejected(
            readable_id(text),
            ErrorData::parse_error(format!("Parse error: {error}"), None),
        )),
    }
}

fn parse(text: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(text).or_else(|error| match mend_surrogates(text) {
        Some(mended) => serde_json::from_slice(&mended),
        None => Err(error),
    })
}

/// Replaces the escapes of lone surrogates by U+FFFD; `None` when there are none.
///
/// A JavaScript client that cuts a text in the middle of an emoji writes such an escape. It
/// is within JSON's grammar but stands for no character, and serde_json refuses it.
fn mend_surrogates(text: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| -> Option<u16> {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut mended = Vec::with_capacity(text.len());
    let mut found = false;
    let mut at = 0;
    while at < text.len() {
        let length = match (unit(at), text[at]) {
            (Some(0xD800..=0xDBFF), _) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.extend_from_slice(b"\\ufffd");
                found = true;
                at += 6;
                continue;
            }
            (None, b'\\') => 2,
            _ => 1,
        };
        let end = text.len().min(at + length);
        mended.extend_from_slice(&text[at..end]);
        at = end;
    }
    found.then_some(mended)
}

/// The id of a message that cannot be read whole, for example because it nests too deeply.
fn readable_id(text: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Identified {
        id: RequestId,
    }
    serde_json::from_slice::<Identified>(text).ok().map(|message| message.id)
}

fn message(value: Value) -> Message {
    let Value::Object(mut object) = value else {
        return invalid(None, "a message is a JSON object");
    };
    let answers = object.contains_key("result") || object.contains_key("error");
    if answers && !object.contains_key("method") {
        // A response that is wrong in itself, or to nothing: an answer to it would be one too.
        return serde_json::from_value(Value::Object(object))
            .map_or(Message::Ignored, |response| Message::Told(Box::new(response)));
    }
    let id = object.remove("id");
    let readable = id.as_ref().and_then(|id| RequestId::deserialize(id).ok());
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(readable, "\"jsonrpc\" is not \"2.0\"");
    }
    let Some(Value::String(method)) = object.remove("method") else {
        return invalid(readable, "\"method\" is missing or not a string");
    };
    if answers {
        return invalid(readable, "a request has neither \"result\" nor \"error\"");
    }
    // JSON-RPC lets params be left out, and clients write null for that.
    let params = object.remove("params").filter(|params| !params.is_null());
    match (id, readable) {
        (None, _) => notification(&method, params),
        (Some(_), None) => invalid(None, "\"id\" is not a string or a whole number"),
        (Some(_), Some(id)) => match request(&method, params) {
            Ok(request) => Message::Request(id, Box::new(request)),
            Err(error) => Message::Rejected(Some(id), error),
        },
    }
}

fn invalid(id: Option<RequestId>, why: &str) -> Message {
    Message::Rejected(id, ErrorData::invalid_request(format!("Invalid request: {why}"), None))
}

/// Picks the type by the method.
///
/// rmcp's own union takes a known method with wrong params for an unknown method; here each
/// gets the error that says what is wrong.
macro_rules! by_method {
    ($union:ident, $method:expr, $body:expr, { $($name:literal => $kind:ident,)+ }) => {
        match $method {
            $($name => Some(serde_json::from_value::<$kind>($body).map($union::$kind)),)+
            _ => None,
        }
    };
}

fn request(method: &str, params: Option<Value>) -> Result<ClientRequest, ErrorData> {
    let invalid_params =
        |why: &str| ErrorData::invalid_params(format!("Invalid params of {method}: {why}"), None);
    if params.as_ref().is_some_and(|params| !params.is_object()) {
        return Err(invalid_params("they are not an object"));
    }
    // rmcp reads a cursor of a wrong type as none, and the client would page for ever.
    let cursor = params.as_ref().and_then(|params| params.get("cursor"));
    if method.ends_with("/list") && cursor.is_some_and(|at| !at.is_string() && !at.is_null()) {
        return Err(invalid_params("\"cursor\" is not a string"));
    }
    // The methods of the capabilities that the server declares.
    by_method!(ClientRequest, method, body(method, params), {
        "ping" => PingRequest,
        "initialize" => InitializeRequest,
        "server/discover" => DiscoverRequest,
        "prompts/get" => GetPromptRequest,
        "prompts/list" => ListPromptsRequest,
        "resources/list" => ListResourcesRequest,
        "resources/templates/list" => ListResourceTemplatesRequest,
        "resources/read" => ReadResourceRequest,
        "tools/call" => CallToolRequest,
        "tools/list" => ListToolsRequest,
    })
    .ok_or_else(|| {
        ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {method}"), None)
    })?
    .map_err(|error| {
        tracing::debug!(method, %error, "params of another form");
        invalid_params(form(method))
    })
}

/// What the params of a method must be.
fn form(method: &str) -> &'static str {
    match method {
        "tools/call" => {
            "they are an object with \"name\" (a string) and, if the tool takes any, \
             \"arguments\" (an object)"
        }
        "prompts/get" => {
            "they are an object with \"name\" (a string) and, if the prompt takes any, \
             \"arguments\" (an object of strings)"
        }
        "resources/read" => "they are an object with \"uri\" (a string)",
        "initialize" => {
            "they are an object with \"protocolVersion\" (a string), \"capabilities\" (an object) \
             and \"clientInfo\" (an object with \"name\" and \"version\")"
        }
        _ => "they do not have the form that the protocol gives them",
    }
}

fn notification(method: &str, params: Option<Value>) -> Message {
    let known = by_method!(ClientNotification, method, body(method, params), {
        "notifications/cancelled" => CancelledNotification,
        "notifications/progress" => ProgressNotification,
        "notifications/initialized" => InitializedNotification,
        "notifications/roots/list_changed" => RootsListChangedNotification,
    });
    match known {
        Some(Ok(notification)) => {
            Message::Told(Box::new(ClientJsonRpcMessage::notification(notification)))
        }
        _ => {
            tracing::debug!(method, "ignored a notification");
            Message::Ignored
        }
    }
}

fn body(method: &str, params: Option<Value>) -> Value {
    let mut body = Map::new();
    body.insert("method".to_owned(), method.into());
    body.extend(params.map(|params| ("params".to_owned(), params)));
    Value::Object(body)
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString::{Number, String as Text};

    use super::*;

    fn one(line: impl AsRef<[u8]>) -> Message {
        match read(line.as_ref()) {
            Content::One(message) => message,
            other => panic!("not one message: {other:?}"),
        }
    }

    fn rejected(line: impl AsRef<[u8]>) -> (Option<RequestId>, i32) {
        match one(line) {
            Message::Rejected(id, error) => (id, error.code.0),
            other => panic!("not rejected: {other:?}"),
        }
    }

    fn asked(line: impl AsRef<[u8]>) -> (RequestId, ClientRequest) {
        match one(line) {
            Message::Request(id, request) => (id, *request),
            other => panic!("not a request: {other:?}"),
        }
    }

    #[test]
    fn blank_lines_hold_nothing() {
        for line in ["", " ", "\r", "\t\r", "\u{feff}", "\u{feff} \r"] {
            assert!(matches!(read(line.as_bytes()), Content::Blank), "{line:?}");
        }
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        let lines: [&[u8]; 8] =
            [b"hello", b"{", b"{\"id\":1", b"\0", b"\xff\xfe", b"{} {}", b"'1'", b"\"\xc3\x28\""];
        for line in lines {
            assert_eq!(rejected(line), (None, -32700), "{line:?}");
        }
        assert_eq!(rejected("[".repeat(100_000)), (None, -32700));
    }

    #[test]
    fn a_parse_error_bears_the_id_where_the_text_keeps_to_the_grammar() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":"a","method":"ping","params":{{"x":{deep}}}}}"#);
        assert_eq!(rejected(line), (Some(Text("a".into())), -32700));
        assert_eq!(rejected(b"{\"id\":3,\"method\":\"\xff\"}"), (Some(Number(3)), -32700));
    }

    #[test]
    fn what_is_no_message_is_an_invalid_request() {
        let wrong = [
            ("5", None),
            ("null", None),
            ("\"ping\"", None),
            ("[]", None),
            ("{}", None),
            (r#"{"jsonrpc":"2.0","id":1}"#, Some(Number(1))),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, Some(Number(1))),
            (r#"{"id":"x","method":"ping"}"#, Some(Text("x".into()))),
            (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, Some(Number(1))),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, Some(Number(1))),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, None),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, None),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, None),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, None),
        ];
        for (line, id) in wrong {
            assert_eq!(rejected(line), (id, -32600), "{line}");
        }
    }

    #[test]
    fn an_unknown_method_and_wrong_params_are_told_apart() {
        let wrong = [
            ("no/such", "{}", -32601),
            ("", "{}", -32601),
            ("notifications/initialized", "{}", -32601),
            ("tools/call", "null", -32602),
            ("tools/call", "{}", -32602),
            ("tools/call", r#"{"name":5}"#, -32602),
            ("tools/call", r#"{"name":"x","arguments":[]}"#, -32602),
            ("tools/list", "[]", -32602),
            ("tools/list", r#"{"cursor":5}"#, -32602),
            ("resources/read", r#"{"uri":null}"#, -32602),
            ("prompts/get", "\"x\"", -32602),
            ("initialize", "{}", -32602),
        ];
        for (method, params, code) in wrong {
            let line =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            assert_eq!(rejected(&line), (Some(Number(1)), code), "{line}");
        }
    }

    #[test]
    fn every_served_method_is_read_as_its_type() {
        let requests = [
            ("ping", "null"),
            (
                "initialize",
                r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}"#,
            ),
            ("server/discover", "{}"),
            ("prompts/get", r#"{"name":"x","arguments":null}"#),
            ("prompts/list", "null"),
            ("resources/list", r#"{"cursor":null}"#),
            ("resources/templates/list", r#"{"cursor":"x"}"#),
            ("resources/read", r#"{"uri":"x:y"}"#),
            ("tools/call", r#"{"name":"x","arguments":null,"_meta":{"progressToken":1}}"#),
            ("tools/list", "{}"),
        ];
        for (method, params) in requests {
            let line =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            let (_, request) = asked(&line);
            assert_eq!(request.method(), method);
            assert!(!matches!(request, ClientRequest::CustomRequest(_)), "{line}");
        }
    }

    #[test]
    fn marks_and_white_space_around_a_message_are_passed_over() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        for line in [format!("\u{feff}{ping}"), format!("{ping}\r"), format!("  {ping}\t")] {
            assert!(matches!(asked(&line), (Number(1), ClientRequest::PingRequest(_))), "{line:?}");
        }
    }

    #[test]
    fn notifications_and_responses_are_never_answered() {
        let ignored = [
            r#"{"jsonrpc":"2.0","method":"notifications/no_such"}"#,
            r#"{"jsonrpc":"2.0","method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":5}"#,
            r#"{"jsonrpc":"2.0","id":{},"result":5}"#,
        ];
        for line in ignored {
            assert!(matches!(one(line), Message::Ignored), "{line}");
        }
        let told = [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":null}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
        ];
        for line in told {
            assert!(matches!(one(line), Message::Told(_)), "{line}");
        }
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_kept() {
        let line = concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":""#,
            r#"\ud83d|\ude00|\ud83d\ude00|\\ud83d|\ud83d\ud83d\ude00|\u00e9"}}"#,
        );
        let (_, ClientRequest::GetPromptRequest(request)) = asked(line) else {
            panic!("another request");
        };
        let mended = "\u{fffd}|\u{fffd}|\u{1f600}|\\ud83d|\u{fffd}\u{1f600}|\u{e9}";
        assert_eq!(request.params.name, mended);
    }

    #[test]
    fn the_members_of_a_batch_are_read_each_for_itself() {
        let line =
            br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},5,{"jsonrpc":"2.0","method":"x"}]"#;
        let Content::Batch(members) = read(line) else { panic!("no batch") };
        assert!(matches!(
            members.as_slice(),
            [Message::Request(..), Message::Rejected(None, _), Message::Ignored]
        ));
    }
}
