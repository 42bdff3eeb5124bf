"""What every client has to see: each tool, resource and prompt, with its values.

A decision is recorded, its commit attached and checked, reviewed, disputed and approved, on a
clone of a real repository. git itself says what a commit changes.
"""

import json
import re

from jsonschema import Draft202012Validator

from adapters import Refused
from checks import ANY, differences

READING = {"get_decision_context", "list_open_reviews", "list_pending_approvals"}
TOOLS = READING | {
    "approve_decision", "attach_git_diff", "create_task", "record_decision",
    "record_disagreement", "request_review", "run_policy_checks", "submit_review",
}
TEMPLATES = {
    "govforge://project/{project_id}/policies",
    "govforge://decision/{decision_id}",
    "govforge://task/{task_id}/timeline",
    "govforge://review/{review_id}",
    "govforge://project/{project_id}/conventions",
}
PROMPTS = {
    "review_code_decision": {"decision_id": True, "focus": False},
    "explain_disagreement": {"decision_id": True},
    "summarize_decision": {"decision_id": True},
}
POLICIES = [
    "auth_change_requires_review", "secret_pattern_detection", "test_required_for_high_risk",
    "migration_requires_review", "large_diff_requires_human_approval",
]
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
HASH = re.compile(r"sha256:[0-9a-f]{64}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")
FINDING = {
    "severity": "high",
    "category": "bug",
    "file_path": "shop/auth.py",
    "line_start": 2,
    "line_end": 2,
    "message": "A cookie without a dot raises ValueError.",
    "recommendation": "Treat it as signed out. Prüfen: „quoted“ \"text\" \\ and a\nnew line.",
}


class Story:
    def __init__(self, client, place, counts):
        self.client, self.place, self.counts = client, place, counts
        self.schemas = {}

    def check(self, what, found):
        self.counts.check(self.client.name, what, found)

    async def play(self):
        await self.listings()
        await self.record()
        await self.change()
        await self.review()
        await self.verdict()
        await self.forgiving_input()
        await self.refusals()
        await self.resources()
        await self.prompts()

    async def call(self, what, tool, arguments, expected):
        """Calls a tool and compares the result, its text and its published schema."""
        result = await self.client.call(tool, arguments)
        structured = result.get("structuredContent")
        if result.get("isError") or structured is None:
            self.check(f"{tool}: {what}", [f"it was refused: {texts(result)}"])
            return {}
        found = differences(structured, expected)
        validator = Draft202012Validator(self.schemas[tool])
        found += [f"outputSchema: {error.message}" for error in validator.iter_errors(structured)]
        if [json.loads(text) for text in texts(result)] != [structured]:
            found.append(f"the text is not the structured content: {texts(result)}")
        self.check(f"{tool}: {what}", found)
        return structured

    async def refused(self, what, tool, arguments, *words):
        """Calls a tool that has to refuse, with a text that holds the words."""
        result = await self.client.call(tool, arguments)
        text = " ".join(texts(result))
        found = [] if result.get("isError") is True else [f"no error, but {result}"]
        found += [f"{word!r} is not in: {text}" for word in words if word not in text]
        if "structuredContent" in result:
            found.append("a refusal has structured content, which the schema does not describe")
        self.check(f"{tool} refuses {what}", found)

    async def failed(self, what, codes, request, *words):
        """Sends a request whose answer has to be a JSON-RPC error."""
        try:
            found = [f"no error, but {await request}"]
        except Refused as error:
            found = [f"{word!r} is not in: {error}" for word in words if word not in str(error)]
            if error.code is not None and error.code not in codes:
                found.append(f"the code is {error.code}, not one of {codes}")
        self.check(f"an error for {what}", found)

    async def listings(self):
        tools = {tool["name"]: tool for tool in await self.client.tools()}
        found = differences(sorted(tools), sorted(TOOLS))
        for name, tool in tools.items():
            self.schemas[name] = tool["outputSchema"]
            for schema in [tool["inputSchema"], tool["outputSchema"]]:
                Draft202012Validator.check_schema(schema)
                found += differences(schema.get("type"), "object", f"{name}.type")
            annotations = tool["annotations"]
            found += differences(annotations["readOnlyHint"], name in READING, f"{name}.reads")
            found += differences(annotations["destructiveHint"], False, f"{name}.destroys")
            if not (tool.get("title") and tool.get("description")):
                found.append(f"{name} has no title or no description")
        self.check("lists the 11 tools", found)

        templates = await self.client.templates()
        found = differences(sorted(one["uriTemplate"] for one in templates), sorted(TEMPLATES))
        found += [f"{one} is not JSON" for one in templates if one["mimeType"] != "application/json"]
        self.check("lists the 5 kinds of resources", found)

        prompts = {
            prompt["name"]: {one["name"]: one.get("required", False) for one in prompt["arguments"]}
            for prompt in await self.client.prompts()
        }
        self.check("lists the 3 prompts", differences(prompts, PROMPTS))

    async def record(self):
        await self.call("a task", "create_task", {
            "project_path": str(self.place.repository),
            "title": "Sign idle users out",
            "description": "After 30 minutes.",
            "risk_level": "high",
            "actor_agent": "claude",
        }, {"task_id": "TASK-001", "status": "open"})
        await self.call("a decision", "record_decision", {
            "task_id": "TASK-001",
            "author_agent": "claude",
            "title": "Keep the last use in the cookie",
            "rationale": "No lookup on each request.",
            "risk_level": "high",
            "human_approval_required": True,
        }, {"decision_id": "DEC-001", "status": "draft"})
        self.decision = {
            "id": "DEC-001",
            "title": "Keep the last use in the cookie",
            "status": "draft",
            "risk_level": "high",
            "summary": None,
            "rationale": "No lookup on each request.",
            "human_approval_required": True,
        }
        await self.call("a decision without anything yet", "get_decision_context",
            {"decision_id": "DEC-001"},
            {
                "decision": self.decision,
                "git_change": None,
                "reviews": [],
                "policy_results": [],
                "disagreements": [],
                "approvals": [],
                "events": [event("decision.created", "decision")],
            })
        await self.call("no policy applies without a change", "run_policy_checks",
            {"decision_id": "DEC-001"}, {"decision_status": "draft", "results": []})

    async def attach(self, what, decision, revision=None):
        change = self.place.change(revision or "HEAD")
        arguments = {"decision_id": decision, "repo_path": str(self.place.repository)}
        if revision:
            arguments["commit_hash"] = revision
        expected = {key: value for key, value in change.items() if key != "commit_hash"}
        await self.call(what, "attach_git_diff", arguments, {"decision_id": decision, **expected})
        return change

    async def change(self):
        self.place.commit("Sign idle users out", {
            "shop/auth.py": "def user_of(cookie):\n    user, last_use = cookie.split('.')\n",
            "shop/tests/test_auth.py": "def test_user():\n    assert user_of('a.1')\n",
        })
        await self.attach("the change as git has it", "DEC-001")
        await self.policies("a blocked policy asks for a review")

    async def policies(self, what):
        blocked = re.compile(r"\d+ auth-adjacent file\(s\) modified — review required\.")
        self.results = [
            {"policy": policy, "status": "passed", "message": ANY} for policy in POLICIES
        ]
        self.results[0].update(status="blocked", message=blocked)
        self.results[1].update(message="No secret patterns detected.")
        await self.call(what, "run_policy_checks", {"decision_id": "DEC-001"},
            {"decision_status": "review_required", "results": self.results})

    async def review(self):
        ask = {"decision_id": "DEC-001", "reviewer_agent": "codex", "focus": ["security", "tests"]}
        requested = {"decision_id": "DEC-001", "status": "review_required"}
        await self.call("from another agent", "request_review", ask, requested)
        await self.call("that asks for changes, with a finding", "submit_review", {
            "decision_id": "DEC-001",
            "reviewer_agent": "codex",
            "status": "changes_requested",
            "summary": "One kind of cookie brings the request down.",
            "findings": [FINDING],
        }, {
            "review_id": "REV-001",
            "decision_id": "DEC-001",
            "decision_status": "changes_requested",
        })
        await self.call("both positions", "record_disagreement", {
            "decision_id": "DEC-001",
            "topic": "Where the last use is kept",
            "author_position": "In the cookie.",
            "reviewer_position": "In a table.",
            "risk_summary": "A stolen cookie works for half an hour.",
        }, {"disagreement_id": UUID, "decision_id": "DEC-001", "requires_human_decision": True})
        project = {"project_path": str(self.place.repository)}
        await self.call("none while changes are requested", "list_open_reviews", project,
            {"reviews": []})
        self.place.commit("Treat a malformed cookie as signed out", {
            "shop/auth.py": "def user_of(cookie):\n    return cookie.partition('.')[0]\n",
            "shop/tests/test_auth.py": "def test_user():\n    assert user_of('a')\n",
        })
        self.git_change = await self.attach("the follow-up commit", "DEC-001")
        await self.call("again, after the fix", "request_review", ask, requested)
        await self.policies("again, on the follow-up commit")
        await self.call("the review of the decision that waits for one", "list_open_reviews",
            project, {"reviews": [{
                "review_id": "REV-001",
                "decision_id": "DEC-001",
                "reviewer_agent": "codex",
                "status": "changes_requested",
            }]})

    async def verdict(self):
        project = {"project_path": str(self.place.repository)}
        await self.call("the decision waits for a person", "list_pending_approvals", project,
            {"decisions": [{
                "decision_id": "DEC-001",
                "title": "Keep the last use in the cookie",
                "risk_level": "high",
                "status": "review_required",
            }]})
        await self.call("by a person", "approve_decision", {
            "decision_id": "DEC-001",
            "approver": "The maintainer",
            "status": "approved",
            "comment": "Half an hour is short.",
        }, {
            "decision_id": "DEC-001",
            "decision_status": "approved",
            "approval_status": "approved",
        })
        await self.call("nothing waits any more", "list_pending_approvals", project,
            {"decisions": []})
        self.decision["status"] = "approved"
        # These clients cannot ask a person, and the record says so.
        self.decision["caveat"] = "asserted"
        self.git_change["branch_name"] = "story"
        self.reviews = [{
            "id": "REV-001",
            "status": "changes_requested",
            "summary": "One kind of cookie brings the request down.",
            "findings_count": 1,
            # Of the first change, and a second one was attached after it.
            "stale": True,
        }]
        run = {"policy_id": UUID, "run_id": UUID, "config_hash": HASH, "current_config": True}
        self.policy_results = [{**run, **result, "stale": True} for result in self.results]
        self.policy_results += [{**run, **result} for result in self.results]
        self.disagreements = [{
            "id": UUID,
            "topic": "Where the last use is kept",
            "requires_human_decision": True,
            "resolution": None,
        }]
        self.approvals = [{
            "id": UUID,
            "status": "approved",
            "comment": "Half an hour is short.",
            "confirmed": "asserted",
            "vouched": True,
        }]
        self.events = [event(*names.split()) for names in [
            "decision.created decision",
            "decision.policy_evaluated decision",
            "decision.git_attached decision",
            "decision.policy_evaluated decision",
            "decision.status_changed decision",
            "review.requested decision",
            "decision.status_changed decision",
            "review.submitted review",
            "disagreement.recorded disagreement",
            "decision.git_attached decision",
            "review.requested decision",
            "decision.policy_evaluated decision",
            "decision.approved decision",
        ]]
        await self.call("the whole record", "get_decision_context", {"decision_id": "DEC-001"}, {
            "decision": self.decision,
            "git_change": self.git_change,
            "reviews": self.reviews,
            "policy_results": self.policy_results,
            "disagreements": self.disagreements,
            "approvals": self.approvals,
            "events": self.events,
        })

    async def forgiving_input(self):
        await self.call("texts for a boolean and an enum, null for an optional", "record_decision", {
            "task_id": " task-001 ",
            "author_agent": "claude",
            "title": "A second one",
            "summary": None,
            "risk_level": "LOW",
            "human_approval_required": "true",
        }, {"decision_id": "DEC-002", "status": "draft"})
        await self.attach("a commit of the repository's own history", "dec-002".upper(), "HEAD~2")
        await self.call("a list as text", "request_review", {
            "decision_id": "dec-002", "reviewer_agent": "codex", "focus": '["tests"]',
        }, {"decision_id": "DEC-002", "status": "review_required"})
        await self.call("findings as text, whole floats", "submit_review", {
            "decision_id": "DEC-002",
            "reviewer_agent": "codex",
            "status": "Commented",
            "findings": json.dumps([FINDING | {"line_start": 2.0, "line_end": "2"}]),
        }, {
            "review_id": "REV-002",
            "decision_id": "DEC-002",
            "decision_status": "review_required",
        })

    async def refusals(self):
        repository = str(self.place.repository)
        await self.refused("an unknown decision", "get_decision_context",
            {"decision_id": "DEC-009"}, "DecisionNotFound", "DEC-009", "DEC-001", "ledger.db")
        await self.refused("a missing title", "create_task",
            {"project_path": repository}, "InvalidInput", "`title`")
        await self.refused("an unknown parameter", "create_task",
            {"project_path": repository, "title": "x", "risk": "high"}, "`risk`", "`risk_level`")
        await self.refused("an unknown value", "create_task",
            {"project_path": repository, "title": "x", "risk_level": "huge"},
            "huge", "low", "medium", "high", "critical")
        await self.refused("lines that end before they start", "submit_review", {
            "decision_id": "DEC-001",
            "reviewer_agent": "codex",
            "status": "approved",
            "findings": [FINDING | {"line_end": 1}],
        }, "line_end", "line_start")
        await self.refused("an unregistered project", "list_open_reviews",
            {"project_path": str(self.place.home)}, "ProjectNotFound", repository, "govforge init")
        await self.refused("another repository", "attach_git_diff",
            {"decision_id": "DEC-001", "repo_path": str(self.place.home)}, "PathOutsideRepo")
        await self.refused("an unknown commit", "attach_git_diff",
            {"decision_id": "DEC-001", "repo_path": repository, "commit_hash": "no-such-branch"},
            "CommitNotFound", "no-such-branch")
        await self.refused("a policy file that is not there", "run_policy_checks",
            {"decision_id": "DEC-001", "config_path": "none.toml"}, "none.toml")
        not_found = [-32002, -32602]
        await self.failed("an unknown tool", [-32602],
            self.client.call("approve_decison", {}), "approve_decison")
        await self.failed("an unknown resource", not_found,
            self.client.read("govforge://decision/DEC-009"), "DEC-009")
        await self.failed("a URI of no kind", not_found,
            self.client.read("govforge://nothing/1"), "govforge://decision/{decision_id}")
        await self.failed("an unknown prompt", [-32602],
            self.client.prompt("sumarize_decision", {"decision_id": "DEC-001"}),
            "sumarize_decision", "summarize_decision")
        await self.failed("a prompt without its argument", [-32602],
            self.client.prompt("summarize_decision", {}), "decision_id")

    async def read(self, what, uri, expected):
        contents = await self.client.read(uri)
        found = differences(contents, [{"uri": uri, "mimeType": "application/json", "text": ANY}])
        content = json.loads(contents[0]["text"])
        self.check(f"reads {what}", found + differences(content, expected))

    async def resources(self):
        listed = {one["uri"]: one for one in await self.client.resources()}
        projects = [uri for uri in listed if uri.startswith("govforge://project/")]
        # A decision with a verdict is not open any more, nor are its reviews.
        expected = ["decision/DEC-002", "review/REV-002", "task/TASK-001/timeline"]
        found = differences(
            sorted(uri for uri in listed if uri not in projects),
            [f"govforge://{record}" for record in expected])
        found += differences(len(projects), 2, "project resources")
        found += [f"{uri} has no title" for uri, one in listed.items() if not one.get("title")]
        self.check("lists the concrete resources", found)

        policies = next(uri for uri in projects if uri.endswith("/policies"))
        project_id = policies.split("/")[3]
        await self.read("policies", policies, {"project_id": project_id, "policies": [
            {"name": name, "description": re.compile(".+"), "severity": ANY, "config": ANY}
            for name in sorted(POLICIES)
        ]})
        # The id is taken without dashes too.
        plain_id = project_id.replace("-", "")
        await self.read("conventions", f"govforge://project/{plain_id}/conventions",
            {"project_id": project_id, "conventions": []})
        await self.read("a decision", "govforge://decision/DEC-001", {
            "uuid": UUID,
            **self.decision,
            "decision": self.decision,
            "git_change": self.git_change,
            "reviews": [{**review, "findings": [FINDING]} for review in self.reviews],
            "policy_results": [{**result, "evidence": ANY} for result in self.policy_results],
            "disagreements": [{
                **disagreement,
                "author_position": "In the cookie.",
                "reviewer_position": "In a table.",
                "risk_summary": "A stolen cookie works for half an hour.",
            } for disagreement in self.disagreements],
            "approvals": self.approvals,
        })
        await self.read("a review", "govforge://review/REV-001", {
            "id": "REV-001",
            "decision_id": "DEC-001",
            "status": "changes_requested",
            "summary": "One kind of cookie brings the request down.",
            "findings": [FINDING],
        })
        second = [event(*names.split()) for names in [
            "decision.created decision",
            "decision.git_attached decision",
            "review.requested decision",
            "review.submitted review",
        ]]
        await self.read("a timeline", "govforge://task/TASK-001/timeline", {
            "task_id": "TASK-001",
            "events": [event("task.created", "task"), *self.events, *second],
        })

    async def prompts(self):
        wanted = {
            "review_code_decision": ["DEC-001", "accessibility", "get_decision_context",
                "submit_review", "severity", "category"],
            "explain_disagreement": ["DEC-001", "govforge://decision/DEC-001"],
            "summarize_decision": ["DEC-001", "audit"],
        }
        for name, words in wanted.items():
            arguments = {"decision_id": "DEC-001"}
            if "focus" in PROMPTS[name]:
                arguments["focus"] = "accessibility,docs"
            messages = await self.client.prompt(name, arguments)
            text = messages[0]["content"].get("text", "")
            found = differences(messages, [{"role": "user", "content": {"type": "text", "text": ANY}}])
            found += [f"{word!r} is not in: {text}" for word in words if word not in text]
            self.check(f"gets the prompt {name}", found)


def event(kind, entity):
    return {"type": kind, "entity_type": entity, "created_at": TIME, "payload": ANY}


def texts(result):
    return [block["text"] for block in result["content"] if block["type"] == "text"]
