-- Which run a policy's result came from, and by which rules it judged, so that a reader sees
-- whether the rules have changed since. The original's policy_results has no room for it, and
-- its columns stay as they are: a result without a row here is one of the original's.
CREATE TABLE policy_result_runs (
    policy_result_id CHAR(32)    NOT NULL PRIMARY KEY
                                 REFERENCES policy_results (id) ON DELETE CASCADE,
    -- The event decision.policy_evaluated, which all results of a run share.
    event_id         CHAR(32)    NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    -- sha256: and 64 hex digits of the policy file; null for the defaults.
    config_hash      VARCHAR(80)
);
-- A project's events go with it, and each looks for its rows here.
CREATE INDEX ix_policy_result_runs_event_id ON policy_result_runs (event_id);
