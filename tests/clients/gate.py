"""What happens at the human gate when the client can ask its user, and what stands on the record.

Before 2026-07-28 the server asks; from then on the call ends with the question, and the client
sends it again with the answer.
"""

import json

from adapters import Person
from checks import differences

VERDICT = {
    "decision_id": "DEC-001",
    "approver": "maintainer",
    "status": "approved",
    "comment": "Looks fine.",
}


class Gate:
    def __init__(self, adapter, place, mode, counts):
        self.person = Person()
        self.client = adapter(place, mode, self.person)
        self.place, self.counts = place, counts

    def check(self, what, found):
        self.counts.check(self.client.name, what, found)

    async def play(self):
        async with self.client.connected():
            await self.prepare()
            await self.unanswered("decline", "declined")
            await self.unanswered("cancel", "dismissed")
            await self.unanswered("accept", "undecided", verdict="undecided")
            await self.unanswered("accept", "without DEC-001 typed", verdict="approved")
            await self.answered("rejected", "No: name the cookie. Größe \"M\".")
            await self.answered("needs_changes", None)
            await self.answered("approved", None, typed_id="DEC-001")
            await self.record()

    async def prepare(self):
        repository = str(self.place.repository)
        self.place.commit("Sign idle users out", {"shop/auth.py": "IDLE = 30\n"})
        for tool, arguments in [
            ("create_task", {"project_path": repository, "title": "Sign idle users out"}),
            ("record_decision", {
                "task_id": "TASK-001", "author_agent": "claude", "title": "Keep it in the cookie",
                "rationale": "No table to clean up.", "human_approval_required": True,
            }),
            ("attach_git_diff", {"decision_id": "DEC-001", "repo_path": repository}),
        ]:
            result = await self.client.call(tool, arguments)
            if result.get("isError"):
                raise AssertionError(f"{tool}: {result}")

    async def unanswered(self, action, word, **content):
        self.person.will(action, **content)
        result = await self.client.call("approve_decision", VERDICT)
        text = " ".join(block.get("text", "") for block in result["content"])
        found = [] if result.get("isError") else [f"it was recorded: {result}"]
        for wanted in ["A person must decide on DEC-001", word, "no rejection"]:
            if wanted not in text:
                found.append(f"{wanted!r} is not in: {text}")
        found += self.question()
        how = " ".join([action, *content.values()])
        self.check(f"approve_decision: the person answers {how}", found)

    async def answered(self, verdict, comment, **more):
        more |= {"comment": comment} if comment else {}
        self.person.will("accept", verdict=verdict, **more)
        result = await self.client.call("approve_decision", VERDICT)
        status = {"needs_changes": "changes_requested"}.get(verdict, verdict)
        found = differences(result.get("structuredContent") or result, {
            "decision_id": "DEC-001", "decision_status": status, "approval_status": verdict,
        })
        found += self.question()
        how = "with a comment" if comment else "without a comment"
        self.check(f"approve_decision: the person answers {verdict}, {how}", found)

    def question(self):
        """One question was shown, with what the person needs and nothing filled in."""
        seen, self.person.seen = self.person.seen, []
        if len(seen) != 1:
            return [f"{len(seen)} questions, not 1"]
        found = [
            f"{wanted!r} is not in: {seen[0]['message']}"
            for wanted in [
                "DEC-001", "Keep it in the cookie", "shop/auth.py", "sha256:", "No table to clean up.",
                'proposes: approved, with the comment "Looks fine."',
            ]
            if wanted not in seen[0]["message"]
        ]
        form = seen[0]["requestedSchema"]["properties"]
        filled_in = [name for name, field in form.items() if field.get("default")]
        found += differences(filled_in, [], "the fields filled in")
        return found + differences(form["verdict"]["enum"][0], "undecided", "the first choice")

    async def record(self):
        result = await self.client.call("get_decision_context", {"decision_id": "DEC-001"})
        context = result["structuredContent"]
        given = [
            (event["type"], event["payload"]["confirmed"], event["payload"]["comment"] or "")
            for event in context["events"] if "approval_id" in event["payload"]
        ]
        found = differences(json.loads(json.dumps(given)), [
            ["decision.rejected", "asked", "No: name the cookie. Größe \"M\"."],
            ["decision.needs_changes", "asked", ""],
            ["decision.approved", "asked", ""],
        ])
        found += differences(len(context["approvals"]), 3, "approvals")
        self.check("the record holds the three answers, as asked", found)
