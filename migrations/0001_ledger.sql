-- The twelve tables of the ledger, as the original's SQLAlchemy models name them.
-- IF NOT EXISTS throughout: a file that the original made already holds the tables, and is
-- taken as it is. Ids are UUIDs as 32 hex digits, enums the NAME in upper case, timestamps
-- `YYYY-MM-DD HH:MM:SS.ffffff` in UTC, JSON text, booleans 0 or 1. This program writes every
-- timestamp itself; the defaults are for a writer that leaves them to the database.

CREATE TABLE IF NOT EXISTS projects (
    id             CHAR(32)     NOT NULL PRIMARY KEY,
    name           VARCHAR(255) NOT NULL,
    root_path      TEXT         NOT NULL UNIQUE,
    default_branch VARCHAR(255) NOT NULL,
    created_at     TEXT         NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at     TEXT         NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE IF NOT EXISTS agents (
    id            CHAR(32)     NOT NULL PRIMARY KEY,
    name          VARCHAR(255) NOT NULL UNIQUE,
    type          VARCHAR(16)  NOT NULL,
    metadata_json TEXT,
    created_at    TEXT         NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE IF NOT EXISTS tasks (
    id                  CHAR(32)     NOT NULL PRIMARY KEY,
    display_id          VARCHAR(32)  NOT NULL,
    project_id          CHAR(32)     NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    title               VARCHAR(512) NOT NULL,
    description         TEXT,
    risk_level          VARCHAR(16)  NOT NULL,
    status              VARCHAR(32)  NOT NULL,
    created_by_agent_id CHAR(32)     REFERENCES agents (id),
    created_at          TEXT         NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at          TEXT         NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (project_id, display_id)
);
CREATE INDEX IF NOT EXISTS ix_tasks_project_status ON tasks (project_id, status);

CREATE TABLE IF NOT EXISTS decisions (
    id                      CHAR(32)     NOT NULL PRIMARY KEY,
    display_id              VARCHAR(32)  NOT NULL,
    project_id              CHAR(32)     NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    task_id                 CHAR(32)     REFERENCES tasks (id) ON DELETE SET NULL,
    author_agent_id         CHAR(32)     NOT NULL REFERENCES agents (id),
    title                   VARCHAR(512) NOT NULL,
    summary                 TEXT,
    rationale               TEXT,
    status                  VARCHAR(32)  NOT NULL,
    risk_level              VARCHAR(16)  NOT NULL,
    human_approval_required BOOLEAN      NOT NULL,
    created_at              TEXT         NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at              TEXT         NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (project_id, display_id)
);
CREATE INDEX IF NOT EXISTS ix_decisions_project_status ON decisions (project_id, status);

CREATE TABLE IF NOT EXISTS git_changes (
    id                 CHAR(32)    NOT NULL PRIMARY KEY,
    decision_id        CHAR(32)    NOT NULL REFERENCES decisions (id) ON DELETE CASCADE,
    repo_path          TEXT        NOT NULL,
    branch_name        VARCHAR(255),
    commit_hash        VARCHAR(64) NOT NULL,
    parent_commit_hash VARCHAR(64),
    diff_hash          VARCHAR(80),
    files_changed_json TEXT        NOT NULL,
    insertions         INTEGER     NOT NULL,
    deletions          INTEGER     NOT NULL,
    created_at         TEXT        NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS ix_git_changes_commit_hash ON git_changes (commit_hash);
CREATE INDEX IF NOT EXISTS ix_git_changes_decision_id ON git_changes (decision_id);

CREATE TABLE IF NOT EXISTS reviews (
    id                CHAR(32)    NOT NULL PRIMARY KEY,
    display_id        VARCHAR(32) NOT NULL,
    decision_id       CHAR(32)    NOT NULL REFERENCES decisions (id) ON DELETE CASCADE,
    reviewer_agent_id CHAR(32)    NOT NULL REFERENCES agents (id),
    status            VARCHAR(32) NOT NULL,
    summary           TEXT,
    created_at        TEXT        NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS ix_reviews_decision_id ON reviews (decision_id);

CREATE TABLE IF NOT EXISTS findings (
    id             CHAR(32)    NOT NULL PRIMARY KEY,
    review_id      CHAR(32)    NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    severity       VARCHAR(16) NOT NULL,
    category       VARCHAR(32) NOT NULL,
    file_path      TEXT,
    line_start     INTEGER,
    line_end       INTEGER,
    message        TEXT        NOT NULL,
    recommendation TEXT
);

CREATE TABLE IF NOT EXISTS policies (
    id          CHAR(32)     NOT NULL PRIMARY KEY,
    name        VARCHAR(255) NOT NULL UNIQUE,
    description TEXT,
    enabled     BOOLEAN      NOT NULL,
    severity    VARCHAR(16)  NOT NULL,
    config_json TEXT,
    created_at  TEXT         NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE IF NOT EXISTS policy_results (
    id            CHAR(32)    NOT NULL PRIMARY KEY,
    decision_id   CHAR(32)    NOT NULL REFERENCES decisions (id) ON DELETE CASCADE,
    policy_id     CHAR(32)    NOT NULL REFERENCES policies (id),
    status        VARCHAR(16) NOT NULL,
    message       TEXT,
    evidence_json TEXT,
    created_at    TEXT        NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS ix_policy_results_decision_id ON policy_results (decision_id);

CREATE TABLE IF NOT EXISTS disagreements (
    id                      CHAR(32)     NOT NULL PRIMARY KEY,
    decision_id             CHAR(32)     NOT NULL REFERENCES decisions (id) ON DELETE CASCADE,
    topic                   VARCHAR(512) NOT NULL,
    author_position         TEXT,
    reviewer_position       TEXT,
    risk_summary            TEXT,
    requires_human_decision BOOLEAN      NOT NULL,
    resolution              TEXT,
    resolved_by_agent_id    CHAR(32)     REFERENCES agents (id),
    resolved_at             TEXT,
    created_at              TEXT         NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS ix_disagreements_decision_id ON disagreements (decision_id);

CREATE TABLE IF NOT EXISTS approvals (
    id                CHAR(32)    NOT NULL PRIMARY KEY,
    decision_id       CHAR(32)    NOT NULL REFERENCES decisions (id) ON DELETE CASCADE,
    approver_agent_id CHAR(32)    NOT NULL REFERENCES agents (id),
    status            VARCHAR(16) NOT NULL,
    comment           TEXT,
    created_at        TEXT        NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS ix_approvals_decision_id ON approvals (decision_id);

CREATE TABLE IF NOT EXISTS events (
    id             CHAR(32)    NOT NULL PRIMARY KEY,
    project_id     CHAR(32)    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    entity_type    VARCHAR(32) NOT NULL,
    entity_id      CHAR(32)    NOT NULL,
    event_type     VARCHAR(64) NOT NULL,
    actor_agent_id CHAR(32)    REFERENCES agents (id),
    payload_json   TEXT,
    created_at     TEXT        NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS ix_events_project_created ON events (project_id, created_at);
CREATE INDEX IF NOT EXISTS ix_events_entity ON events (entity_type, entity_id);

-- Beside the original's tables: the last number given in each sequence of display IDs. A
-- number is never given twice, so this may not be derived from the rows that are left.
CREATE TABLE IF NOT EXISTS display_sequences (
    project_id  CHAR(32)    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    prefix      VARCHAR(8)  NOT NULL,
    last_number INTEGER     NOT NULL,
    PRIMARY KEY (project_id, prefix)
);

-- What was recorded in the last minute, so that a call that a client sent twice is seen: the
-- digest of the content, and what the first record is called. Older rows are removed.
CREATE TABLE IF NOT EXISTS recent_calls (
    digest     VARCHAR(80)  NOT NULL PRIMARY KEY,
    record     VARCHAR(64) NOT NULL,
    created_at TEXT        NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_recent_calls_created_at ON recent_calls (created_at);

-- The original looks records up inside one project; here a display ID is also looked up in
-- the whole ledger, and children are read by their parent.
CREATE INDEX IF NOT EXISTS ix_tasks_display_id ON tasks (display_id);
CREATE INDEX IF NOT EXISTS ix_decisions_display_id ON decisions (display_id);
CREATE INDEX IF NOT EXISTS ix_decisions_task_id ON decisions (task_id);
CREATE INDEX IF NOT EXISTS ix_reviews_display_id ON reviews (display_id);
CREATE INDEX IF NOT EXISTS ix_findings_review_id ON findings (review_id);

-- Lists go from the newest record on, and show what is open: neither may read every row there
-- ever was. Names of agents are found in any case.
CREATE INDEX IF NOT EXISTS ix_tasks_created_at ON tasks (created_at, id);
CREATE INDEX IF NOT EXISTS ix_decisions_created_at ON decisions (created_at, id);
CREATE INDEX IF NOT EXISTS ix_reviews_created_at ON reviews (created_at, id);
CREATE INDEX IF NOT EXISTS ix_tasks_open ON tasks (created_at, id)
    WHERE status NOT IN ('APPROVED', 'REJECTED', 'CLOSED');
CREATE INDEX IF NOT EXISTS ix_decisions_open ON decisions (created_at, id)
    WHERE status NOT IN ('APPROVED', 'REJECTED');
CREATE INDEX IF NOT EXISTS ix_agents_lower_name ON agents (LOWER(name));
