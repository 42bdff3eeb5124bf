//! How long a client may keep a result.

use rmcp::RoleServer;
use rmcp::model::{CacheScope, ProtocolVersion};
use rmcp::service::RequestContext;

/// How long a client may keep a result: not at all, since any process may write to the
/// ledger. Only revisions from 2026-07-28 on have, and require, the fields.
pub fn freshness(
    context: &RequestContext<RoleServer>,
    scope: CacheScope,
) -> (Option<u64>, Option<CacheScope>) {
    let known =
        context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    (known.then_some(0), known.then_some(scope))
}
