-- The chain over the events, so that a record that was rewritten shows. Each event has its
-- place, a digest of its own columns and of the rows that it vouches for, and a hash over all
-- of that and the hash before. Beside `events`, because the original writes that table too.
CREATE TABLE event_chain (
    place         INTEGER      NOT NULL PRIMARY KEY,
    event_id      CHAR(32)     NOT NULL UNIQUE,
    event_digest  CHAR(64)     NOT NULL,
    -- Type and name of the agent who acted, as they stood when the event was taken in.
    actor         VARCHAR(320),
    -- What the event vouches for; a policy run vouches for several rows and has no id.
    record_kind   VARCHAR(16),
    record_id     CHAR(32),
    record_digest CHAR(64),
    -- Who wrote the event: `govforge`; `other`, whatever program that was; or `earlier`,
    -- before there was a chain.
    origin        VARCHAR(16)  NOT NULL,
    -- The label of the token under which the event was written.
    token         VARCHAR(255),
    hash          CHAR(64)     NOT NULL
);

-- Events that are not in the chain yet, in the order in which they were written: the original
-- cannot compute a hash, so whatever it writes waits here for the next write of this program.
CREATE TABLE event_queue (
    turn     INTEGER     NOT NULL PRIMARY KEY,
    event_id CHAR(32)    NOT NULL,
    origin   VARCHAR(16) NOT NULL DEFAULT 'other'
);
INSERT INTO event_queue (event_id, origin)
SELECT id, 'earlier' FROM events ORDER BY created_at, id;

CREATE TRIGGER events_are_queued AFTER INSERT ON events
BEGIN
    INSERT INTO event_queue (event_id) VALUES (NEW.id);
END;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are never changed');
END;

-- A replacing insert would remove the row without the trigger below.
CREATE TRIGGER events_are_not_replaced BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'events are never replaced');
END;

-- A project takes its events along, as the original's foreign keys have it: while they are
-- removed by the cascade, the project is gone already. The chain keeps their places, so that
-- this shows too.
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
WHEN EXISTS (SELECT 1 FROM projects WHERE id = OLD.project_id)
BEGIN
    SELECT RAISE(ABORT, 'events are never deleted');
END;

CREATE TRIGGER chain_is_not_changed BEFORE UPDATE ON event_chain
BEGIN
    SELECT RAISE(ABORT, 'the chain is never changed');
END;

CREATE TRIGGER chain_is_not_deleted BEFORE DELETE ON event_chain
BEGIN
    SELECT RAISE(ABORT, 'the chain is never shortened');
END;
