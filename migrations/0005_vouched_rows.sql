-- What a link vouches for, in its second form: also a task's status, the project, how a
-- disagreement was settled, the policies of a run and their results where the original ran
-- them. A link that is in the chain keeps the form, and so the digests, in which it was made.
ALTER TABLE event_chain ADD COLUMN form INTEGER NOT NULL DEFAULT 1;
-- The policies that a run judged by, as it left them: for each its id, a colon and the digest of
-- its row, parted by blanks. A later run may change them, so only the last word on each counts.
ALTER TABLE event_chain ADD COLUMN policies TEXT;

-- Which results the runs of another program stored, as they were found when its event was taken
-- in: the original's tables do not tell.
CREATE TABLE foreign_policy_results (
    policy_result_id CHAR(32) NOT NULL PRIMARY KEY
                              REFERENCES policy_results (id) ON DELETE CASCADE,
    event_id         CHAR(32) NOT NULL REFERENCES events (id) ON DELETE CASCADE
);
CREATE INDEX ix_foreign_policy_results_event_id ON foreign_policy_results (event_id);
