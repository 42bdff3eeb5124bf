-- Who may do what, as the original's later versions have it: users and their tokens. The secret
-- itself is kept nowhere; it is found by its first characters and compared by its SHA-256.
CREATE TABLE IF NOT EXISTS users (
    id           CHAR(32)     NOT NULL PRIMARY KEY,
    email        VARCHAR(320) NOT NULL UNIQUE,
    display_name VARCHAR(255) NOT NULL,
    avatar_url   TEXT,
    is_active    BOOLEAN      NOT NULL,
    created_at   TEXT         NOT NULL,
    updated_at   TEXT         NOT NULL
);

CREATE TABLE IF NOT EXISTS api_tokens (
    id            CHAR(32)     NOT NULL PRIMARY KEY,
    user_id       CHAR(32)     NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label         VARCHAR(255) NOT NULL,
    agent_type    VARCHAR(16)  NOT NULL,
    prefix        CHAR(8)      NOT NULL,
    hashed_secret CHAR(64)     NOT NULL UNIQUE,
    scopes_csv    TEXT         NOT NULL,
    created_at    TEXT         NOT NULL,
    last_used_at  TEXT,
    expires_at    TEXT,
    revoked_at    TEXT
);
CREATE INDEX IF NOT EXISTS ix_api_tokens_prefix ON api_tokens (prefix);
