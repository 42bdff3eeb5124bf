"""Plays the story, and the human gate where a client can ask, with every client that is installed, and counts the checks.

Names: fastmcp, mcp, typescript, inspector (each in both protocol eras); fastmcp-cli; claude,
gemini, opencode, qwen (their `mcp list`, which connects without a model or a login); mcpb, the
tool for bundles, with the manifest in docs/distribution.
"""

import argparse
import asyncio
import json
import re
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

import adapters
from checks import Counts, differences
from gate import Gate
from place import Place
from story import Story

# Name, class, mode, and the revision that has to come out of it (None: the client hides it).
STORIES = [
    ("fastmcp", adapters.Fastmcp, "auto", "2026-07-28"),
    ("fastmcp", adapters.Fastmcp, "legacy", "2025-11-25"),
    ("mcp", adapters.Sdk, "auto", "2026-07-28"),
    ("mcp", adapters.Sdk, "legacy", "2025-11-25"),
    ("typescript", adapters.Typescript, "auto", "2026-07-28"),
    ("typescript", adapters.Typescript, "legacy", "2025-11-25"),
    ("inspector", adapters.Inspector, "modern", None),
    ("inspector", adapters.Inspector, "legacy", None),
]

# Those that can show a form to a person who is a script.
ASKING = ["fastmcp", "mcp", "typescript"]

# How an agent is told of the server, how it lists it, and what it says when it is connected.
AGENTS = {
    "claude": (
        "mcp add govforge -s local -e GOVFORGE_DB={ledger} -- {server}",
        r"govforge: .* Connected",
    ),
    "gemini": (
        "mcp add -s user -e GOVFORGE_DB={ledger} govforge {server}",
        r"govforge: .* Connected",
    ),
    "opencode": (
        "mcp add govforge --env GOVFORGE_DB={ledger} -- {server}",
        r"govforge .*connected",
    ),
    "qwen": (
        "mcp add -s user -e GOVFORGE_DB={ledger} govforge {server}",
        r"govforge: .* Connected",
    ),
}

# What `govforge connect` calls an agent, and where it is told to write so that the agent starts
# the server without asking.
WIRED = [
    ("claude", "claude-code", "--user"),
    ("gemini", "gemini", "--user"),
    ("gemini", "gemini", "--project"),
    ("opencode", "opencode", "--user"),
    ("opencode", "opencode", "--project"),
    ("qwen", "qwen", "--user"),
]

MANY = 230  # more than two pages of resources/list


def main():
    parser = argparse.ArgumentParser()
    for option in ["--server", "--repository", "--clients", "--scratch"]:
        parser.add_argument(option, required=True, type=lambda path: Path(path).resolve())
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    known = [*dict.fromkeys(name for name, *_ in STORIES), "fastmcp-cli", *AGENTS, "mcpb"]
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"no such client: {', '.join(unknown)}; there are {', '.join(known)}")
    players = Players(given, set(given.names or known))
    asyncio.run(players.play())
    print(players.counts.closing_line())
    sys.exit(players.counts.failed > 0)


class Players:
    def __init__(self, given, wanted):
        self.given, self.wanted, self.counts = given, wanted, Counts()

    def place(self, name):
        directory = self.given.scratch / name
        directory.mkdir()
        return Place(directory, self.given.server, self.given.repository, self.given.clients)

    def installed(self, name):
        if name not in self.wanted:
            return False
        if name not in ("fastmcp", "mcp", "fastmcp-cli") and not (self.given.clients / name).is_dir():
            self.counts.skip(name, "it cannot be installed here")
            return False
        return True

    async def play(self):
        crowded = None
        for name, adapter, mode, revision in STORIES:
            if not self.installed(name):
                continue
            if crowded is None:
                crowded = await self.crowded()
            place = self.place(f"{name}-{mode}")
            client = adapter(place, mode)
            try:
                async with client.connected():
                    if revision:
                        await self.about(client, revision)
                    await Story(client, place, self.counts).play()
                self.quiet_end(client.name, place)
                if name == "inspector":
                    self.strict_schemas(client)
                await self.pages(adapter(crowded, mode))
                if name in ASKING:
                    await Gate(adapter, self.place(f"{name}-{mode}-gate"), mode, self.counts).play()
            except Exception:
                lines = traceback.format_exc().splitlines() + place.stderr.read_text().splitlines()
                self.counts.check(client.name, "plays the whole story", lines)
        if self.installed("fastmcp-cli"):
            self.fastmcp_cli(self.place("fastmcp-cli"))
        for name, (add, connected) in AGENTS.items():
            if self.installed(name):
                self.agent(name, self.place(name), add, connected)
        for name, client, scope in WIRED:
            if self.installed(name):
                place = self.place(f"{name}-connect{scope}")
                self.wired(name, place, client, scope, AGENTS[name][1])
        if self.installed("mcpb"):
            self.bundle(self.place("mcpb"))

    async def about(self, client, revision):
        about = await client.about()
        found = differences(about["protocolVersion"], revision, "protocolVersion")
        found += differences(about["server"]["name"], "govforge", "server.name")
        if "create_task" not in (about["instructions"] or ""):
            found.append(f"the instructions are {about['instructions']!r}")
        self.counts.check(client.name, f"speaks {revision} and hands on the instructions", found)

    def quiet_end(self, client, place):
        deadline = time.monotonic() + 5
        while place.survivors() and time.monotonic() < deadline:
            time.sleep(0.05)
        found = [f"process {one} still runs" for one in place.survivors()]
        found += [line for line in place.stderr.read_text().splitlines()]
        self.counts.check(client, "leaves no server behind, and nothing on stderr", found)

    def strict_schemas(self, client):
        done = client.run("tools/list", "--strict")
        found = [line for line in done.stderr.splitlines() if line.startswith("Error")]
        if done.returncode:
            found.append(f"exit code {done.returncode}: {done.stderr}")
        self.counts.check(client.name, "finds no error in the schemas (--strict)", found)
        warnings = [line for line in done.stderr.splitlines() if line.startswith("Warning")]
        if warnings:
            print(f"note  {client.name}: {len(warnings)} warnings with --strict", flush=True)

    async def crowded(self):
        """A ledger with more records than a page of the list holds."""
        place = self.place("crowded")
        client = adapters.Sdk(place, "auto")
        async with client.connected():
            for number in range(MANY):
                project = str(place.repository)
                await client.call("create_task", {"project_path": project, "title": f"Task {number}"})
        return place

    async def pages(self, client):
        async with client.connected():
            listed = await client.resources()
        uris = {one["uri"] for one in listed}
        found = differences(len(uris), len(listed), "distinct URIs")
        found += differences(len(listed), MANY + 2, "resources on all pages")
        self.counts.check(client.name, "lists the resources page by page", found)

    def fastmcp_cli(self, place):
        configuration = place.home / "mcp.json"
        server = {"command": str(place.server), "env": {"GOVFORGE_DB": str(place.ledger)}}
        configuration.write_text(json.dumps({"mcpServers": {"govforge": server}}))
        command = str(self.given.clients / "python" / "bin" / "fastmcp")

        def run(*arguments):
            return subprocess.run(
                [command, *arguments], capture_output=True, text=True, timeout=120,
                env=place.environment, cwd=place.home, stdin=subprocess.DEVNULL,
            )

        def check(what, done, code, *words):
            output = done.stdout + done.stderr
            found = differences(done.returncode, code, "exit code")
            found += [f"{word!r} is not in: {output}" for word in words if word not in output]
            self.counts.check("fastmcp command line", what, found)

        listed = run("list", configuration, "--json")
        check("lists the tools", listed, 0, "approve_decision", "submit_review")
        project = f"project_path={place.repository}"
        made = run("call", configuration, "create_task", project, "title=From a shell", "--json")
        check("calls a tool", made, 0, "TASK-001")
        check("shows a refusal",
            run("call", configuration, "create_task", project, "title= ", "--json"), 1, "`title`")
        check("reads a resource",
            run("call", configuration, "govforge://task/TASK-001/timeline", "--json"), 0,
            "task.created")
        check("gets a prompt",
            run("call", configuration, "summarize_decision", "decision_id=DEC-001", "--prompt",
                "--json"), 0, "DEC-001")

    def wired(self, name, place, client, scope, connected):
        """The agent finds the server in what `govforge connect` wrote."""
        place.run(place.server, "connect", client, scope)
        if name == "claude":
            self.trust(place)
        code, output = self.run_agent(name, place, "mcp", "list")
        found = differences(code, 0, "exit code")
        if not re.search(connected, output):
            found.append(f"it does not say that it is connected: {output}")
        self.counts.check(name, f"connects by `govforge connect {client} {scope}`", found)

    def trust(self, place):
        """What Claude Code keeps once a person has said that the folder is to be trusted."""
        path = Path(place.environment["HOME"]) / ".claude.json"
        kept = json.loads(path.read_text())
        folder = kept.setdefault("projects", {}).setdefault(str(place.repository), {})
        folder["hasTrustDialogAccepted"] = True
        path.write_text(json.dumps(kept))

    def bundle(self, place):
        """The bundle for catalogues: its manifest is valid, and what is packed starts."""
        tool = self.given.clients / "mcpb" / "node_modules" / ".bin" / "mcpb"
        folder, packed, unpacked = (place.home / name for name in ["in", "govforge.mcpb", "out"])
        (folder / "server").mkdir(parents=True)
        shutil.copy(self.given.repository / "docs" / "distribution" / "manifest.json", folder)
        shutil.copy(place.server, folder / "server" / "govforge")

        def check(what, *command, holds=""):
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=120, env=place.environment,
                cwd=place.home, stdin=subprocess.DEVNULL,
            )
            output = done.stdout + done.stderr
            found = differences(done.returncode, 0, "exit code")
            if found or holds not in output:
                found.append(output)
            self.counts.check("mcpb", what, found)

        check("validates the manifest", tool, "validate", folder / "manifest.json")
        check("packs a bundle", tool, "pack", folder, packed)
        check("unpacks it", tool, "unpack", packed, unpacked)
        server = json.loads((folder / "manifest.json").read_text())["server"]["entry_point"]
        check("starts what was packed", unpacked / server, "--version", holds="govforge ")

    def run_agent(self, name, place, *arguments):
        command = self.given.clients / name / "node_modules" / ".bin" / name
        environment = place.environment | {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
        done = subprocess.run(
            [command, *arguments], capture_output=True, text=True, timeout=180,
            env=environment, cwd=place.repository, stdin=subprocess.DEVNULL,
        )
        # Some colour their output also where nobody sees it.
        return done.returncode, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", done.stdout + done.stderr)

    def agent(self, name, place, add, connected):
        def run(*arguments):
            return self.run_agent(name, place, *arguments)

        # Between the agent and the server stands a recorder of what both say.
        recorder = place.home / "recorder"
        sent, answered = place.home / "sent.jsonl", place.home / "answered.jsonl"
        recorder.write_text(
            f"#!/bin/sh\ntee -a '{sent}' | '{place.server}' 2>>'{place.stderr}' | tee -a '{answered}'\n")
        recorder.chmod(0o755)
        version = run("--version")[1].split()[0]
        code, output = run(*(
            word.format(ledger=place.ledger, server=recorder) for word in add.split()))
        if code:
            self.counts.check(f"{name} {version}", "takes the server", [output])
            return
        code, output = run("mcp", "list")
        found = differences(code, 0, "exit code")
        if not re.search(connected, output):
            found.append(f"it does not say that it is connected: {output}")
        messages = [json.loads(line) for line in answered.read_text().splitlines()]
        found += [f"an error was answered: {one}" for one in messages if "error" in one]
        methods = [json.loads(line).get("method") for line in sent.read_text().splitlines()]
        self.counts.check(f"{name} {version}", f"connects ({', '.join(map(str, methods))})", found)
        self.quiet_end(f"{name} {version}", place)


if __name__ == "__main__":
    main()
