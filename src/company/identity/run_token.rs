//! The tokens of runs and of the commander: JSON web tokens, signed with HMAC-SHA256 (RFC 7519,
//! RFC 7515). Nothing but HS256 is read, whatever a token says of itself.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use uuid::Uuid;

use crate::domain::secret::Secret;
use crate::domain::time::Timestamp;
use crate::error::{Error, Result};

const ISSUER: &str = "aoa";
const AUDIENCE: &str = "aoa-api";

/// How many hours a run token lives at most.
pub const RUN_HOURS: u32 = 48;
/// How many minutes a token of the commander lives.
pub const COMMANDER_MINUTES: i64 = 10;

/// Whom a token says that its holder is. It says nothing of what they may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// An agent in one of its runs.
    Run { agent_id: Uuid, company_id: Uuid, run_id: Uuid },
    /// The commander of a person.
    Commander { user_id: Uuid, company_id: Uuid },
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    typ: Option<String>,
    /// Extensions that must be understood: none is.
    #[serde(default)]
    crit: Option<serde_json::Value>,
}

/// What stands in a token. The claims of the two kinds are apart, so that neither passes for the
/// other.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claims {
    iss: String,
    aud: String,
    iat: i64,
    exp: i64,
    company_id: Uuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sub: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run_id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_id: Option<Uuid>,
}

/// A token for somebody, from `now` on.
///
/// # Errors
///
/// Faults where the claims cannot be written.
pub fn sign(holder: Holder, secret: &Secret, now: Timestamp) -> Result<Secret> {
    let iat = now.unix_seconds();
    let empty = |exp, company_id| Claims {
        iss: ISSUER.to_owned(),
        aud: AUDIENCE.to_owned(),
        iat,
        exp,
        company_id,
        sub: None,
        run_id: None,
        kind: None,
        user_id: None,
    };
    let claims = match holder {
        Holder::Run { agent_id, company_id, run_id } => Claims {
            sub: Some(agent_id),
            run_id: Some(run_id),
            ..empty(iat + i64::from(RUN_HOURS) * 3600, company_id)
        },
        Holder::Commander { user_id, company_id } => Claims {
            kind: Some("commander".to_owned()),
            user_id: Some(user_id),
            ..empty(iat + COMMANDER_MINUTES * 60, company_id)
        },
    };
    let claims = serde_json::to_vec(&claims)
        .map_err(|error| Error::fault("a token cannot be written", error))?;
    let header = URL_SAFE_NO_PAD.encode(br#"{"alg":"HS256","typ":"JWT"}"#);
    let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims));
    let signature = mac(secret, signed.as_bytes())?.finalize().into_bytes();
    Ok(Secret::new(&format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))))
}

/// Whom a token names, if it was signed with that secret and has not expired at `now`.
///
/// # Errors
///
/// Why it does not hold, for its holder.
pub fn read(
    token: &str,
    secret: &Secret,
    now: Timestamp,
) -> std::result::Result<Holder, &'static str> {
    const NONE: &str = "The token is none of this server's.";
    let (signed, signature) = token.rsplit_once('.').ok_or(NONE)?;
    let (header, claims) = signed.split_once('.').ok_or(NONE)?;
    let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_error| NONE);
    let header: Header = serde_json::from_slice(&decoded(header)?).map_err(|_error| NONE)?;
    let is_jwt = header.typ.is_none_or(|typ| typ.eq_ignore_ascii_case("JWT"));
    if header.alg != "HS256" || header.crit.is_some() || !is_jwt {
        return Err(NONE);
    }
    let mac = mac(secret, signed.as_bytes()).map_err(|_error| NONE)?;
    mac.verify_slice(&decoded(signature)?).map_err(|_error| NONE)?;
    let claims: Claims = serde_json::from_slice(&decoded(claims)?).map_err(|_error| NONE)?;
    if claims.iss != ISSUER || claims.aud != AUDIENCE {
        return Err(NONE);
    }
    let now = now.unix_seconds();
    let longest = i64::from(RUN_HOURS) * 3600;
    if claims.exp.saturating_sub(claims.iat) > longest || claims.iat > now + 300 {
        return Err("The token lives longer than a token may.");
    }
    if claims.exp <= now {
        return Err("The token has expired.");
    }
    let company_id = claims.company_id;
    match (claims.kind.as_deref(), claims.sub, claims.run_id, claims.user_id) {
        (None, Some(agent_id), Some(run_id), None) => {
            Ok(Holder::Run { agent_id, company_id, run_id })
        }
        (Some("commander"), None, None, Some(user_id)) => {
            Ok(Holder::Commander { user_id, company_id })
        }
        _ => Err(NONE),
    }
}

fn mac(secret: &Secret, signed: &[u8]) -> Result<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes())
        .map_err(|error| Error::fault("the secret of tokens is none", error))?;
    mac.update(signed);
    Ok(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPANY: Uuid = Uuid::from_u128(1);

    fn at(time: &str) -> Timestamp {
        Timestamp::read(time).unwrap()
    }

    fn run() -> Holder {
        Holder::Run {
            agent_id: Uuid::from_u128(2),
            company_id: COMPANY,
            run_id: Uuid::from_u128(3),
        }
    }

    /// A token with another header or other claims, rightly signed.
    fn forged(header: &str, claims: &str, secret: &Secret) -> String {
        let signed =
            format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
        let signature = mac(secret, signed.as_bytes()).unwrap().finalize().into_bytes();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    #[test]
    fn a_token_names_its_holder_until_it_expires() {
        let secret = Secret::new("s");
        let now = at("2026-05-10 14:00:00");
        for (holder, last, over) in [
            (run(), "2026-05-12 13:59:59", "2026-05-12 14:00:00"),
            (
                Holder::Commander { user_id: Uuid::from_u128(4), company_id: COMPANY },
                "2026-05-10 14:09:59",
                "2026-05-10 14:10:00",
            ),
        ] {
            let token = sign(holder, &secret, now).unwrap();
            assert_eq!(read(token.reveal(), &secret, at(last)), Ok(holder));
            assert!(read(token.reveal(), &secret, at(over)).is_err());
            assert!(read(token.reveal(), &Secret::new("t"), now).is_err());
        }
    }

    #[test]
    fn whatever_else_a_token_says_of_itself_it_does_not_hold() {
        let secret = Secret::new("s");
        let now = at("2026-05-10 14:00:00");
        let good = sign(run(), &secret, now).unwrap();
        let [header, claims, signature] =
            good.reveal().split('.').collect::<Vec<_>>().try_into().unwrap();
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
        let hs256 = r#"{"alg":"HS256","typ":"JWT"}"#;
        assert!(read(&forged(hs256, &text, &secret), &secret, now).is_ok());
        let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
        let long = text.replace(&format!("{}", now.unix_seconds() + 48 * 3600), "99999999999");
        assert_ne!(long, text);
        for token in [
            String::new(),
            "a.b.c".to_owned(),
            format!("{header}.{claims}"),
            format!("{header}.{claims}."),
            format!("{none}.{claims}."),
            format!("{none}.{claims}.{signature}"),
            forged(r#"{"alg":"none"}"#, &text, &secret),
            forged(r#"{"alg":"HS512"}"#, &text, &secret),
            forged(r#"{"alg":"hs256"}"#, &text, &secret),
            forged(r#"{"alg":"HS256","crit":["x"]}"#, &text, &secret),
            forged(hs256, &long, &secret),
            forged(hs256, &text.replace("\"aoa\"", "\"other\""), &secret),
            forged(hs256, &text.replace("aoa-api", "other"), &secret),
            forged(hs256, &text.replace('{', r#"{"kind":"commander","#), &secret),
            forged(hs256, &text.replace('{', r#"{"role":"founder","#), &secret),
            forged(hs256, &text.replace("\"sub\"", "\"user_id\""), &secret),
        ] {
            assert!(read(&token, &secret, now).is_err(), "{token}");
        }
    }
}
