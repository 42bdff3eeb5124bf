-- Which of two records came first follows from their places in the chain, not from clocks: a
-- change, a review, a disagreement and a verdict are looked up by their ids there, and what waits
-- to be taken in by its event.
CREATE INDEX ix_event_chain_record_id ON event_chain (record_id) WHERE record_id IS NOT NULL;
CREATE INDEX ix_event_queue_event_id ON event_queue (event_id);

-- Each verdict's event carries the `[approval]` settings in force. The next one of a project looks
-- for the last, so that it can tell whether they were changed since.
CREATE INDEX ix_event_chain_verdicts ON event_chain (place) WHERE record_kind = 'approval';
