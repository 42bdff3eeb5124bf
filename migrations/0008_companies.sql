-- The companies of the endpoint: people and agents, their work, and what they ask of each other.
-- Ids are 32 hex digits, times are text as in the ledger's own tables, and values of closed sets
-- are their names on the wire. Every row of a company carries the company's id, also where it
-- could be found by another row: a statement that forgets it finds nothing.
CREATE TABLE aoa_companies (
    id          CHAR(32)     NOT NULL PRIMARY KEY,
    name        VARCHAR(255) NOT NULL UNIQUE,
    status      VARCHAR(32)  NOT NULL,
    -- The letters before the number of a task; with the number it names one task in the ledger.
    prefix      VARCHAR(8)   NOT NULL UNIQUE,
    task_count  INTEGER      NOT NULL DEFAULT 0,
    mcp_enabled INTEGER      NOT NULL,
    created_at  TEXT         NOT NULL,
    updated_at  TEXT         NOT NULL
);

-- A person may be in several companies: what they are in each stands in their roles there.
CREATE TABLE aoa_users (
    id            CHAR(32)     NOT NULL PRIMARY KEY,
    name          VARCHAR(255) NOT NULL,
    -- Argon2id, as PHC text; null for who does not sign in.
    password_hash TEXT,
    created_at    TEXT         NOT NULL,
    updated_at    TEXT         NOT NULL
);

CREATE TABLE aoa_members (
    company_id CHAR(32)    NOT NULL REFERENCES aoa_companies (id),
    user_id    CHAR(32)    NOT NULL REFERENCES aoa_users (id),
    -- active or suspended
    status     VARCHAR(32) NOT NULL,
    created_at TEXT        NOT NULL,
    PRIMARY KEY (company_id, user_id)
);
CREATE INDEX ix_aoa_members_user_id ON aoa_members (user_id);

CREATE TABLE aoa_projects (
    id                CHAR(32)     NOT NULL PRIMARY KEY,
    company_id        CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    name              VARCHAR(255) NOT NULL,
    description       TEXT,
    -- project or department
    type              VARCHAR(32)  NOT NULL,
    status            VARCHAR(32)  NOT NULL,
    lead_user_id      CHAR(32)     REFERENCES aoa_users (id),
    -- The project of the ledger whose decisions are this one's.
    ledger_project_id CHAR(32),
    created_at        TEXT         NOT NULL,
    updated_at        TEXT         NOT NULL,
    UNIQUE (company_id, name)
);

-- One role in the whole company, and one in each project.
CREATE TABLE aoa_user_roles (
    id         CHAR(32)    NOT NULL PRIMARY KEY,
    company_id CHAR(32)    NOT NULL REFERENCES aoa_companies (id),
    user_id    CHAR(32)    NOT NULL REFERENCES aoa_users (id),
    role       VARCHAR(32) NOT NULL,
    project_id CHAR(32)    REFERENCES aoa_projects (id),
    created_at TEXT        NOT NULL
);
CREATE UNIQUE INDEX ix_aoa_user_roles_place
    ON aoa_user_roles (company_id, user_id, COALESCE(project_id, ''));

CREATE TABLE aoa_agents (
    id         CHAR(32)     NOT NULL PRIMARY KEY,
    company_id CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    name       VARCHAR(255) NOT NULL,
    role       VARCHAR(32)  NOT NULL,
    title      VARCHAR(255),
    status     VARCHAR(32)  NOT NULL,
    reports_to CHAR(32)     REFERENCES aoa_agents (id),
    created_at TEXT         NOT NULL,
    updated_at TEXT         NOT NULL
);
CREATE INDEX ix_aoa_agents_company_id ON aoa_agents (company_id, name);

CREATE TABLE aoa_agent_projects (
    agent_id   CHAR(32) NOT NULL REFERENCES aoa_agents (id),
    project_id CHAR(32) NOT NULL REFERENCES aoa_projects (id),
    company_id CHAR(32) NOT NULL REFERENCES aoa_companies (id),
    PRIMARY KEY (agent_id, project_id)
);
CREATE INDEX ix_aoa_agent_projects_project_id ON aoa_agent_projects (project_id);

-- What is granted beside a role, to a person or to an agent.
CREATE TABLE aoa_grants (
    id         CHAR(32)    NOT NULL PRIMARY KEY,
    company_id CHAR(32)    NOT NULL REFERENCES aoa_companies (id),
    user_id    CHAR(32)    REFERENCES aoa_users (id),
    agent_id   CHAR(32)    REFERENCES aoa_agents (id),
    permission VARCHAR(64) NOT NULL,
    created_at TEXT        NOT NULL,
    CHECK ((user_id IS NULL) <> (agent_id IS NULL))
);
CREATE UNIQUE INDEX ix_aoa_grants_place
    ON aoa_grants (company_id, COALESCE(user_id, agent_id), permission);

-- Secrets are kept nowhere: each is found by its SHA-256.
CREATE TABLE aoa_mcp_keys (
    id           CHAR(32)     NOT NULL PRIMARY KEY,
    company_id   CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    user_id      CHAR(32)     NOT NULL REFERENCES aoa_users (id),
    name         VARCHAR(120) NOT NULL,
    hash         CHAR(64)     NOT NULL UNIQUE,
    -- At most this role, and of the owner's projects only these, with commas between them.
    role         VARCHAR(32),
    project_ids  TEXT,
    created_at   TEXT         NOT NULL,
    last_used_at TEXT,
    revoked_at   TEXT
);
CREATE INDEX ix_aoa_mcp_keys_company_id ON aoa_mcp_keys (company_id);

CREATE TABLE aoa_agent_keys (
    id         CHAR(32) NOT NULL PRIMARY KEY,
    company_id CHAR(32) NOT NULL REFERENCES aoa_companies (id),
    agent_id   CHAR(32) NOT NULL REFERENCES aoa_agents (id),
    hash       CHAR(64) NOT NULL UNIQUE,
    created_at TEXT     NOT NULL,
    revoked_at TEXT
);
CREATE INDEX ix_aoa_agent_keys_agent_id ON aoa_agent_keys (agent_id);

CREATE TABLE aoa_sessions (
    id         CHAR(32) NOT NULL PRIMARY KEY,
    user_id    CHAR(32) NOT NULL REFERENCES aoa_users (id),
    hash       CHAR(64) NOT NULL UNIQUE,
    created_at TEXT     NOT NULL,
    expires_at TEXT     NOT NULL,
    ended_at   TEXT
);
CREATE INDEX ix_aoa_sessions_user_id ON aoa_sessions (user_id);

-- The programs that were heard at the endpoint.
CREATE TABLE aoa_mcp_clients (
    company_id  CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    name        VARCHAR(255) NOT NULL,
    version     VARCHAR(255) NOT NULL,
    last_method VARCHAR(255) NOT NULL,
    seen_at     TEXT         NOT NULL,
    PRIMARY KEY (company_id, name, version)
);

CREATE TABLE aoa_goals (
    id          CHAR(32)     NOT NULL PRIMARY KEY,
    company_id  CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    title       VARCHAR(512) NOT NULL,
    description TEXT,
    level       VARCHAR(32)  NOT NULL,
    status      VARCHAR(32)  NOT NULL,
    parent_id   CHAR(32)     REFERENCES aoa_goals (id),
    created_at  TEXT         NOT NULL,
    updated_at  TEXT         NOT NULL
);
CREATE INDEX ix_aoa_goals_company_id ON aoa_goals (company_id);

CREATE TABLE aoa_project_goals (
    project_id CHAR(32) NOT NULL REFERENCES aoa_projects (id),
    goal_id    CHAR(32) NOT NULL REFERENCES aoa_goals (id),
    company_id CHAR(32) NOT NULL REFERENCES aoa_companies (id),
    PRIMARY KEY (project_id, goal_id)
);
CREATE INDEX ix_aoa_project_goals_goal_id ON aoa_project_goals (goal_id);

CREATE TABLE aoa_labels (
    id         CHAR(32)     NOT NULL PRIMARY KEY,
    company_id CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    name       VARCHAR(255) NOT NULL,
    created_at TEXT         NOT NULL,
    UNIQUE (company_id, name)
);

-- A document of several versions. Which project it belongs to, the task says that names it.
CREATE TABLE aoa_artifacts (
    id                  CHAR(32)     NOT NULL PRIMARY KEY,
    company_id          CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    title               VARCHAR(255) NOT NULL,
    type                VARCHAR(32)  NOT NULL,
    status              VARCHAR(32)  NOT NULL,
    created_by_user_id  CHAR(32)     REFERENCES aoa_users (id),
    created_by_agent_id CHAR(32)     REFERENCES aoa_agents (id),
    created_at          TEXT         NOT NULL,
    updated_at          TEXT         NOT NULL
);
CREATE INDEX ix_aoa_artifacts_company_id ON aoa_artifacts (company_id, updated_at);

CREATE TABLE aoa_artifact_versions (
    id                  CHAR(32)    NOT NULL PRIMARY KEY,
    company_id          CHAR(32)    NOT NULL REFERENCES aoa_companies (id),
    artifact_id         CHAR(32)    NOT NULL REFERENCES aoa_artifacts (id),
    version_number      INTEGER     NOT NULL,
    content             TEXT,
    file_url            TEXT,
    source              VARCHAR(32) NOT NULL,
    source_detail       TEXT,
    changelog           TEXT,
    parent_version_id   CHAR(32)    REFERENCES aoa_artifact_versions (id),
    -- Of the content, or of the address of the file.
    sha256              CHAR(64)    NOT NULL,
    created_by_user_id  CHAR(32)    REFERENCES aoa_users (id),
    created_by_agent_id CHAR(32)    REFERENCES aoa_agents (id),
    created_at          TEXT        NOT NULL,
    UNIQUE (artifact_id, version_number)
);

CREATE TRIGGER aoa_versions_are_not_changed BEFORE UPDATE ON aoa_artifact_versions
BEGIN
    SELECT RAISE(ABORT, 'a version is never changed');
END;

CREATE TRIGGER aoa_versions_are_not_deleted BEFORE DELETE ON aoa_artifact_versions
BEGIN
    SELECT RAISE(ABORT, 'a version is never deleted');
END;

-- A replacing insert would remove the row without the trigger above.
CREATE TRIGGER aoa_versions_are_not_replaced BEFORE INSERT ON aoa_artifact_versions
WHEN EXISTS (SELECT 1 FROM aoa_artifact_versions
             WHERE id = NEW.id
             OR (artifact_id = NEW.artifact_id AND version_number = NEW.version_number))
BEGIN
    SELECT RAISE(ABORT, 'a version is never replaced');
END;

CREATE TABLE aoa_tasks (
    id                  CHAR(32)     NOT NULL PRIMARY KEY,
    company_id          CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    identifier          VARCHAR(32)  NOT NULL UNIQUE,
    title               VARCHAR(512) NOT NULL,
    description         TEXT,
    status              VARCHAR(32)  NOT NULL,
    -- 0 critical, 1 high, 2 medium, 3 low: lists go by it.
    priority            INTEGER      NOT NULL,
    project_id          CHAR(32)     REFERENCES aoa_projects (id),
    goal_id             CHAR(32)     REFERENCES aoa_goals (id),
    parent_id           CHAR(32)     REFERENCES aoa_tasks (id),
    assignee_agent_id   CHAR(32)     REFERENCES aoa_agents (id),
    assignee_user_id    CHAR(32)     REFERENCES aoa_users (id),
    responsible_user_id CHAR(32)     REFERENCES aoa_users (id),
    reviewer_user_id    CHAR(32)     REFERENCES aoa_users (id),
    artifact_id         CHAR(32)     REFERENCES aoa_artifacts (id),
    checkout_run_id     CHAR(32),
    source              VARCHAR(32)  NOT NULL,
    created_by_user_id  CHAR(32)     REFERENCES aoa_users (id),
    created_by_agent_id CHAR(32)     REFERENCES aoa_agents (id),
    started_at          TEXT,
    completed_at        TEXT,
    cancelled_at        TEXT,
    created_at          TEXT         NOT NULL,
    updated_at          TEXT         NOT NULL,
    CHECK (assignee_agent_id IS NULL OR assignee_user_id IS NULL)
);
CREATE INDEX ix_aoa_tasks_order ON aoa_tasks (company_id, priority, updated_at DESC, id);
CREATE INDEX ix_aoa_tasks_project
    ON aoa_tasks (project_id, priority, updated_at DESC, id);
CREATE INDEX ix_aoa_tasks_status ON aoa_tasks (company_id, status, priority, updated_at DESC, id);
CREATE INDEX ix_aoa_tasks_agent ON aoa_tasks (assignee_agent_id, priority, updated_at DESC, id);
CREATE INDEX ix_aoa_tasks_user ON aoa_tasks (assignee_user_id, priority, updated_at DESC, id);
CREATE INDEX ix_aoa_tasks_responsible
    ON aoa_tasks (responsible_user_id, priority, updated_at DESC, id);
CREATE INDEX ix_aoa_tasks_parent ON aoa_tasks (parent_id);
CREATE INDEX ix_aoa_tasks_artifact ON aoa_tasks (artifact_id);
CREATE INDEX ix_aoa_tasks_checkout ON aoa_tasks (checkout_run_id);

CREATE TABLE aoa_task_labels (
    task_id    CHAR(32) NOT NULL REFERENCES aoa_tasks (id),
    label_id   CHAR(32) NOT NULL REFERENCES aoa_labels (id),
    company_id CHAR(32) NOT NULL REFERENCES aoa_companies (id),
    PRIMARY KEY (task_id, label_id)
);
CREATE INDEX ix_aoa_task_labels_label_id ON aoa_task_labels (label_id);

CREATE TABLE aoa_comments (
    id              CHAR(32) NOT NULL PRIMARY KEY,
    company_id      CHAR(32) NOT NULL REFERENCES aoa_companies (id),
    task_id         CHAR(32) NOT NULL REFERENCES aoa_tasks (id),
    author_user_id  CHAR(32) REFERENCES aoa_users (id),
    author_agent_id CHAR(32) REFERENCES aoa_agents (id),
    run_id          CHAR(32),
    body            TEXT     NOT NULL,
    created_at      TEXT     NOT NULL
);
CREATE INDEX ix_aoa_comments_task_id ON aoa_comments (task_id, created_at, id);

-- How far a person has read a task.
CREATE TABLE aoa_read_marks (
    user_id    CHAR(32) NOT NULL REFERENCES aoa_users (id),
    task_id    CHAR(32) NOT NULL REFERENCES aoa_tasks (id),
    company_id CHAR(32) NOT NULL REFERENCES aoa_companies (id),
    read_at    TEXT     NOT NULL,
    PRIMARY KEY (user_id, task_id)
);

-- What somebody has sent under a key of their own, so that a call that is sent twice makes one
-- row.
CREATE TABLE aoa_idempotency (
    company_id CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    actor_id   CHAR(32)     NOT NULL,
    key        VARCHAR(255) NOT NULL,
    -- Of the tool and all that was sent.
    digest     CHAR(64)     NOT NULL,
    record_id  CHAR(32)     NOT NULL,
    created_at TEXT         NOT NULL,
    PRIMARY KEY (company_id, actor_id, key)
);

CREATE TABLE aoa_runs (
    id          CHAR(32)    NOT NULL PRIMARY KEY,
    company_id  CHAR(32)    NOT NULL REFERENCES aoa_companies (id),
    agent_id    CHAR(32)    NOT NULL REFERENCES aoa_agents (id),
    task_id     CHAR(32)    REFERENCES aoa_tasks (id),
    status      VARCHAR(32) NOT NULL,
    started_at  TEXT,
    finished_at TEXT,
    -- When a call was last made under it.
    heard_at    TEXT,
    created_at  TEXT        NOT NULL
);
CREATE INDEX ix_aoa_runs_agent_id ON aoa_runs (agent_id, created_at);
CREATE INDEX ix_aoa_runs_task_id ON aoa_runs (task_id);
CREATE INDEX ix_aoa_runs_status ON aoa_runs (status, heard_at);

CREATE TABLE aoa_questions (
    id                CHAR(32)    NOT NULL PRIMARY KEY,
    company_id        CHAR(32)    NOT NULL REFERENCES aoa_companies (id),
    run_id            CHAR(32)    NOT NULL REFERENCES aoa_runs (id),
    task_id           CHAR(32)    NOT NULL REFERENCES aoa_tasks (id),
    agent_id          CHAR(32)    NOT NULL REFERENCES aoa_agents (id),
    recipient_user_id CHAR(32)    NOT NULL REFERENCES aoa_users (id),
    question          TEXT        NOT NULL,
    context           TEXT,
    options_json      TEXT,
    -- Of question, options and context: the same question is asked once.
    digest            CHAR(64)    NOT NULL,
    status            VARCHAR(32) NOT NULL,
    answer            TEXT,
    answered_by_user_id CHAR(32)  REFERENCES aoa_users (id),
    answered_at       TEXT,
    created_at        TEXT        NOT NULL
);
CREATE INDEX ix_aoa_questions_task_id ON aoa_questions (task_id, digest);
CREATE INDEX ix_aoa_questions_recipient ON aoa_questions (recipient_user_id, status);

CREATE TABLE aoa_approvals (
    id                    CHAR(32)    NOT NULL PRIMARY KEY,
    company_id            CHAR(32)    NOT NULL REFERENCES aoa_companies (id),
    type                  VARCHAR(64) NOT NULL,
    payload_json          TEXT        NOT NULL,
    status                VARCHAR(32) NOT NULL,
    requested_by_user_id  CHAR(32)    REFERENCES aoa_users (id),
    requested_by_agent_id CHAR(32)    REFERENCES aoa_agents (id),
    decided_by_user_id    CHAR(32)    REFERENCES aoa_users (id),
    decision_note         TEXT,
    decided_at            TEXT,
    -- The decision of the ledger that it stands for.
    decision_id           CHAR(32),
    created_at            TEXT        NOT NULL,
    updated_at            TEXT        NOT NULL
);
CREATE INDEX ix_aoa_approvals_company_id ON aoa_approvals (company_id, status, created_at);
CREATE INDEX ix_aoa_approvals_decision_id ON aoa_approvals (decision_id);

CREATE TABLE aoa_approval_comments (
    id              CHAR(32) NOT NULL PRIMARY KEY,
    company_id      CHAR(32) NOT NULL REFERENCES aoa_companies (id),
    approval_id     CHAR(32) NOT NULL REFERENCES aoa_approvals (id),
    author_user_id  CHAR(32) REFERENCES aoa_users (id),
    author_agent_id CHAR(32) REFERENCES aoa_agents (id),
    body            TEXT     NOT NULL,
    created_at      TEXT     NOT NULL
);
CREATE INDEX ix_aoa_approval_comments_approval_id
    ON aoa_approval_comments (approval_id, created_at);

CREATE TABLE aoa_task_approvals (
    task_id     CHAR(32) NOT NULL REFERENCES aoa_tasks (id),
    approval_id CHAR(32) NOT NULL REFERENCES aoa_approvals (id),
    company_id  CHAR(32) NOT NULL REFERENCES aoa_companies (id),
    PRIMARY KEY (task_id, approval_id)
);
CREATE INDEX ix_aoa_task_approvals_approval_id ON aoa_task_approvals (approval_id);

CREATE TABLE aoa_memory_items (
    id                  CHAR(32)     NOT NULL PRIMARY KEY,
    company_id          CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    title               VARCHAR(512) NOT NULL,
    content             TEXT         NOT NULL,
    category            VARCHAR(32)  NOT NULL,
    layer               VARCHAR(32)  NOT NULL,
    status              VARCHAR(32)  NOT NULL,
    source              VARCHAR(32)  NOT NULL,
    source_context      TEXT,
    -- A JSON list of texts.
    tags_json           TEXT,
    department_id       CHAR(32)     REFERENCES aoa_projects (id),
    project_id          CHAR(32)     REFERENCES aoa_projects (id),
    goal_id             CHAR(32)     REFERENCES aoa_goals (id),
    task_id             CHAR(32)     REFERENCES aoa_tasks (id),
    -- Whose own it is: only that agent and founders see it.
    agent_id            CHAR(32)     REFERENCES aoa_agents (id),
    visibility          VARCHAR(32)  NOT NULL,
    priority            INTEGER      NOT NULL,
    -- How often a person has found it right.
    trust               INTEGER      NOT NULL,
    supersedes_id       CHAR(32)     REFERENCES aoa_memory_items (id),
    expires_at          TEXT,
    created_by_user_id  CHAR(32)     REFERENCES aoa_users (id),
    created_by_agent_id CHAR(32)     REFERENCES aoa_agents (id),
    decided_by_user_id  CHAR(32)     REFERENCES aoa_users (id),
    decided_at          TEXT,
    created_at          TEXT         NOT NULL,
    updated_at          TEXT         NOT NULL
);
CREATE INDEX ix_aoa_memory_items_company_id ON aoa_memory_items (company_id, status, updated_at);

-- What was shown of the memory, to whom.
CREATE TABLE aoa_memory_retrievals (
    id         CHAR(32) NOT NULL PRIMARY KEY,
    company_id CHAR(32) NOT NULL REFERENCES aoa_companies (id),
    item_id    CHAR(32) NOT NULL REFERENCES aoa_memory_items (id),
    user_id    CHAR(32),
    agent_id   CHAR(32),
    run_id     CHAR(32),
    query      TEXT,
    created_at TEXT     NOT NULL
);
CREATE INDEX ix_aoa_memory_retrievals_item_id ON aoa_memory_retrievals (item_id, created_at);

CREATE TABLE aoa_debriefs (
    id                  CHAR(32)     NOT NULL PRIMARY KEY,
    company_id          CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    title               VARCHAR(512) NOT NULL,
    raw_content         TEXT         NOT NULL,
    status              VARCHAR(32)  NOT NULL,
    source_json         TEXT,
    department_id       CHAR(32)     REFERENCES aoa_projects (id),
    project_id          CHAR(32)     REFERENCES aoa_projects (id),
    created_by_user_id  CHAR(32)     REFERENCES aoa_users (id),
    created_by_agent_id CHAR(32)     REFERENCES aoa_agents (id),
    created_at          TEXT         NOT NULL,
    updated_at          TEXT         NOT NULL
);
CREATE INDEX ix_aoa_debriefs_company_id ON aoa_debriefs (company_id, status, created_at);

CREATE TABLE aoa_debrief_items (
    id             CHAR(32)     NOT NULL PRIMARY KEY,
    company_id     CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    debrief_id     CHAR(32)     NOT NULL REFERENCES aoa_debriefs (id),
    kind           VARCHAR(32)  NOT NULL,
    status         VARCHAR(32)  NOT NULL,
    title          VARCHAR(512) NOT NULL,
    content        TEXT         NOT NULL,
    -- What it became once a person approved it.
    task_id        CHAR(32)     REFERENCES aoa_tasks (id),
    memory_item_id CHAR(32)     REFERENCES aoa_memory_items (id),
    created_at     TEXT         NOT NULL,
    updated_at     TEXT         NOT NULL
);
CREATE INDEX ix_aoa_debrief_items_debrief_id ON aoa_debrief_items (debrief_id);

CREATE TABLE aoa_skills (
    id          CHAR(32)     NOT NULL PRIMARY KEY,
    company_id  CHAR(32)     NOT NULL REFERENCES aoa_companies (id),
    key         VARCHAR(255) NOT NULL,
    name        VARCHAR(255) NOT NULL,
    description TEXT,
    markdown    TEXT         NOT NULL,
    created_at  TEXT         NOT NULL,
    updated_at  TEXT         NOT NULL,
    UNIQUE (company_id, key)
);

-- What happened in a company: the events of the ledger's chain that are about companies. Beside
-- `events`, whose projects are the ledger's own.
CREATE TABLE aoa_events (
    id           CHAR(32)    NOT NULL PRIMARY KEY,
    company_id   CHAR(32)    NOT NULL REFERENCES aoa_companies (id),
    entity_type  VARCHAR(32) NOT NULL,
    entity_id    CHAR(32)    NOT NULL,
    event_type   VARCHAR(64) NOT NULL,
    -- How whoever acted had come: mcp, board, agent, commander, or terminal for a verb.
    actor        VARCHAR(16) NOT NULL,
    user_id      CHAR(32),
    agent_id     CHAR(32),
    -- The key, the session and the run under which it happened.
    key_id       CHAR(32),
    session_id   CHAR(32),
    run_id       CHAR(32),
    payload_json TEXT        NOT NULL,
    created_at   TEXT        NOT NULL
);
CREATE INDEX ix_aoa_events_entity ON aoa_events (entity_id, created_at);
CREATE INDEX ix_aoa_events_company_id ON aoa_events (company_id, created_at);

CREATE TRIGGER aoa_events_are_not_changed BEFORE UPDATE ON aoa_events
BEGIN
    SELECT RAISE(ABORT, 'events are never changed');
END;

CREATE TRIGGER aoa_events_are_not_deleted BEFORE DELETE ON aoa_events
BEGIN
    SELECT RAISE(ABORT, 'events are never deleted');
END;

CREATE TRIGGER aoa_events_are_not_replaced BEFORE INSERT ON aoa_events
WHEN EXISTS (SELECT 1 FROM aoa_events WHERE id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'events are never replaced');
END;
