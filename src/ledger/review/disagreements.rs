//! Putting a disagreement on the record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::domain::access::UseCase;
use crate::domain::chain::order::Recorded;
use crate::domain::entity::Disagreement;
use crate::domain::value::EntityType;
use crate::error::Result;
use crate::ledger::Service;
use crate::ledger::record::write::Subject;
use crate::store;

fn yes() -> bool {
    true
}

/// The parameters of `record_disagreement`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RecordDisagreement {
    /// Display ID of the decision, such as DEC-001.
    #[schemars(length(min = 1, max = 512))]
    pub decision_id: String,
    /// What the disagreement is about, in one line.
    #[schemars(length(min = 1, max = 512))]
    pub topic: String,
    /// The author's position, in its strongest form.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub author_position: Option<String>,
    /// The reviewer's position, in its strongest form.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub reviewer_position: Option<String>,
    /// What can go wrong if the reviewer is right and the change ships as it is.
    #[serde(default)]
    #[schemars(length(max = 1_048_576))]
    pub risk_summary: Option<String>,
    /// Whether a person has to settle it.
    #[serde(default = "yes")]
    pub requires_human_decision: bool,
    /// Name of the agent who records it.
    #[serde(default)]
    #[schemars(length(max = 255))]
    pub actor_agent: Option<String>,
}

/// The result of `record_disagreement`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DisagreementRecorded {
    /// UUID of the disagreement.
    #[schemars(with = "String")]
    pub disagreement_id: Uuid,
    /// Display ID of the decision.
    pub decision_id: String,
    /// Whether a person has to settle it.
    pub requires_human_decision: bool,
}

impl Service {
    /// Records a disagreement about a decision. The decision's status stays.
    ///
    /// # Errors
    ///
    /// Refuses an unknown decision.
    pub async fn record_disagreement(
        &self,
        input: RecordDisagreement,
    ) -> Result<DisagreementRecorded> {
        let mut write = self.begin(UseCase::RecordDisagreement).await?;
        let decision = self.decision(write.connection(), &input.decision_id).await?;
        let actor = write.actor(input.actor_agent.as_deref()).await?;
        let disagreement = Disagreement {
            id: write.id(),
            decision_id: decision.id,
            topic: input.topic,
            author_position: input.author_position,
            reviewer_position: input.reviewer_position,
            risk_summary: input.risk_summary,
            requires_human_decision: input.requires_human_decision,
            resolution: None,
            created_at: write.now,
            recorded: Recorded::NOW,
        };
        store::ledger::disagreements::insert(write.connection(), &disagreement).await?;
        let subject = Subject {
            project_id: decision.project_id,
            entity_type: EntityType::Disagreement,
            entity_id: disagreement.id,
            actor,
        };
        let mut payload = json!({
            "decision_id": decision.id,
            "topic": disagreement.topic,
            "requires_human_decision": disagreement.requires_human_decision,
        });
        let content = json!([
            decision.id,
            disagreement.topic,
            disagreement.author_position,
            disagreement.reviewer_position,
            disagreement.risk_summary,
            disagreement.requires_human_decision,
            actor,
        ]);
        let record = disagreement.id.to_string();
        write.flag_repeat(&mut payload, "disagreement.recorded", content, &record).await?;
        write.event(&subject, "disagreement.recorded", payload).await?;
        write.commit().await?;
        Ok(DisagreementRecorded {
            disagreement_id: disagreement.id,
            decision_id: decision.display_id,
            requires_human_decision: disagreement.requires_human_decision,
        })
    }
}
