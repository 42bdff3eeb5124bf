"""Where one client plays the story: a home, a clone of the repository, and a ledger."""

import hashlib
import os
import subprocess

PERSON = {"NAME": "Story", "EMAIL": "story@example.invalid", "DATE": "2026-05-10T14:02:11Z"}

# The variables that a client finds; few, so that nothing of the machine decides a test.
KEPT = ["PATH", "LANG", "TERM", "TMPDIR", "SSL_CERT_FILE"]

# How anyone checks a diff hash: see docs/diff-hash.md.
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
DIFF_TEXT = (
    f"--no-replace-objects --attr-source={EMPTY_TREE} -c core.attributesFile=/dev/null "
    "-c core.quotePath=true -c diff.suppressBlankEmpty=false "
    "diff-tree -p --no-color --no-ext-diff --no-textconv --no-renames --full-index "
    "--indent-heuristic --ignore-submodules=none"
).split()


class Place:
    def __init__(self, directory, server, repository, clients):
        self.server, self.clients = server, clients
        self.home = directory / "home"
        self.home.mkdir(parents=True)
        self.repository = directory / "ledgered"
        self.ledger = directory / "ledger.db"
        self.stderr = directory / "stderr.log"
        self.stderr.touch()
        self.environment = {key: os.environ[key] for key in KEPT if key in os.environ} | {
            "HOME": str(self.home),
            "GOVFORGE_DB": str(self.ledger),
            "NO_COLOR": "1",
        }
        for who in ["AUTHOR", "COMMITTER"]:
            for what, value in PERSON.items():
                self.environment[f"GIT_{who}_{what}"] = value
        self.run("git", "clone", "--quiet", repository, self.repository, at=directory)
        self.git("checkout", "--quiet", "-B", "story")
        self.run(server, "init", "--name", "ledgered")

    def run(self, *command, at=None):
        return subprocess.run(
            command, cwd=at or self.repository, env=self.environment, check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        ).stdout

    def git(self, *arguments):
        return self.run("git", *arguments).decode().strip()

    def commit(self, message, files):
        for path, text in files.items():
            file = self.repository / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            self.git("add", "--", path)
        self.git("commit", "--quiet", "-m", message)

    def change(self, revision):
        """What git itself says about a commit."""
        commit = self.git("rev-parse", f"{revision}^{{commit}}")
        pair = [f"{commit}~1", commit]
        numbers = self.git("diff-tree", "-r", "--no-renames", "--numstat", "-z", *pair)
        rows = [row.split("\t") for row in numbers.split("\0") if row]
        text = self.run("git", *DIFF_TEXT, *pair)
        return {
            "commit_hash": commit,
            "files_changed": sorted((path for _, _, path in rows), key=os.fsencode)[:500],
            "insertions": sum(int(added) for added, _, _ in rows if added != "-"),
            "deletions": sum(int(deleted) for _, deleted, _ in rows if deleted != "-"),
            "diff_hash": "sha256:" + hashlib.sha256(text).hexdigest(),
        }

    def survivors(self):
        """Ids of the servers of this place that still run. Only Linux tells."""
        mark = f"GOVFORGE_DB={self.ledger}\0".encode()
        found = []
        for process in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
            try:
                if not os.path.samefile(f"/proc/{process}/exe", self.server):
                    continue
                with open(f"/proc/{process}/environ", "rb") as environment:
                    if mark in environment.read() + b"\0":
                        found.append(process)
            except OSError:
                pass
        return found
