-- Which of two records came first follows from their places in the chain, not from clocks: a
-- change, a review, a disagreement and a verdict are looked up by their ids there.
CREATE INDEX ix_event_chain_record_id ON event_chain (record_id) WHERE record_id IS NOT NULL;

-- The `[approval]` settings under which the last verdict of a project was given, so that the
-- next one can tell whether they were changed since. Each verdict's own event carries them too.
CREATE TABLE approval_settings_seen (
    project_id    CHAR(32) NOT NULL PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    settings_json TEXT     NOT NULL
);
