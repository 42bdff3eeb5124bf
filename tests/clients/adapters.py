"""The clients behind one interface.

Every method returns what went over the wire as plain JSON values, with the keys of the
protocol. A JSON-RPC error is raised as `Refused`.
"""

import asyncio
import contextlib
import json
import os
import subprocess
from importlib.metadata import version
from pathlib import Path


class Refused(Exception):
    """The server answered with a JSON-RPC error; `code` is None where the client hides it."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code, self.message = code, message


class Person:
    """Whoever sits at the client: answers every question of the server as told before."""

    def __init__(self):
        self.answer, self.seen = None, []

    def will(self, action, **content):
        self.answer = {"action": action} | ({"content": content} if content else {})


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class Sdk:
    """PyPI `mcp`."""

    def __init__(self, place, mode, person=None):
        self.place, self.mode, self.person = place, mode, person
        self.name = f"mcp {version('mcp')} ({mode})"

    @contextlib.asynccontextmanager
    async def connected(self):
        from mcp import Client, StdioServerParameters, stdio_client

        parameters = StdioServerParameters(
            command=str(self.place.server), env={"GOVFORGE_DB": str(self.place.ledger)}
        )
        with open(self.place.stderr, "a") as errlog:
            transport = stdio_client(parameters, errlog=errlog)
            asks = {"elicitation_callback": self.asked} if self.person else {}
            async with Client(transport, mode=self.mode, **asks) as client:
                self.client = client
                yield self

    async def asked(self, context, params):
        from mcp_types import ElicitResult

        self.person.seen.append(plain(params))
        return ElicitResult(**self.person.answer)

    async def about(self):
        return {
            "protocolVersion": self.client.protocol_version,
            "instructions": self.client.instructions,
            "server": plain(self.client.server_info),
        }

    async def ask(self, request):
        from mcp import MCPError

        try:
            return await request
        except MCPError as error:
            raise Refused(error.error.code, error.error.message) from error

    async def tools(self):
        return plain(await self.ask(self.client.list_tools()))["tools"]

    async def call(self, name, arguments):
        return plain(await self.ask(self.client.call_tool(name, arguments)))

    async def resources(self):
        found, cursor = [], None
        while True:
            page = plain(await self.ask(self.client.list_resources(cursor=cursor)))
            found += page["resources"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return found

    async def templates(self):
        return plain(await self.ask(self.client.list_resource_templates()))["resourceTemplates"]

    async def read(self, uri):
        return plain(await self.ask(self.client.read_resource(uri)))["contents"]

    async def prompts(self):
        return plain(await self.ask(self.client.list_prompts()))["prompts"]

    async def prompt(self, name, arguments):
        return plain(await self.ask(self.client.get_prompt(name, arguments)))["messages"]


class Fastmcp(Sdk):
    """PyPI `fastmcp`, which also reads results into types made from the output schemas, and
    makes a type of the form."""

    def __init__(self, place, mode, person=None):
        super().__init__(place, mode, person)
        self.name = f"fastmcp {version('fastmcp')} ({mode})"

    @contextlib.asynccontextmanager
    async def connected(self):
        from fastmcp import Client
        from fastmcp.client.transports import StdioTransport

        transport = StdioTransport(
            str(self.place.server),
            [],
            env={"GOVFORGE_DB": str(self.place.ledger)},
            keep_alive=False,
            log_file=self.place.stderr,
        )
        asks = {"elicitation_handler": self.asked_for} if self.person else {}
        async with Client(transport, mode=self.mode, **asks) as client:
            self.client = client
            yield self

    async def asked_for(self, message, form, params, context):
        from mcp_types import ElicitResult

        self.person.seen.append(plain(params))
        if self.person.answer["action"] == "accept":
            return form(**self.person.answer["content"])
        return ElicitResult(**self.person.answer)

    async def tools(self):
        return [plain(tool) for tool in await self.ask(self.client.list_tools())]

    async def call(self, name, arguments):
        result = await self.ask(self.client.call_tool(name, arguments, raise_on_error=False))
        if not result.is_error and result.data is None:
            raise AssertionError(f"the client could not read the result of {name} into a type")
        wire = {
            "content": [plain(block) for block in result.content],
            "isError": result.is_error,
        }
        if result.structured_content is not None:
            wire["structuredContent"] = result.structured_content
        return wire

    async def resources(self):
        return [plain(resource) for resource in await self.ask(self.client.list_resources())]

    async def templates(self):
        return [plain(one) for one in await self.ask(self.client.list_resource_templates())]

    async def read(self, uri):
        return [plain(content) for content in await self.ask(self.client.read_resource(uri))]

    async def prompts(self):
        return [plain(prompt) for prompt in await self.ask(self.client.list_prompts())]


class Typescript:
    """npm `@modelcontextprotocol/client`, behind typescript.mjs."""

    def __init__(self, place, mode, person=None):
        self.place, self.mode, self.person = place, mode, person
        self.sdk = place.clients / "typescript"
        self.name = f"TypeScript client {npm_version(self.sdk, '@modelcontextprotocol/client')} ({mode})"

    @contextlib.asynccontextmanager
    async def connected(self):
        script = Path(__file__).with_name("typescript.mjs")
        with open(self.place.stderr, "a") as errlog:
            self.process = await asyncio.create_subprocess_exec(
                "node", script, self.sdk, self.mode, self.place.server, "asks" if self.person else "",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errlog,
                env=self.place.environment, limit=64 * 1024 * 1024,
            )
            yield self
            self.process.stdin.close()
            await asyncio.wait_for(self.process.wait(), 20)

    async def ask(self, method, **params):
        request = json.dumps({"method": method, "params": params}) + "\n"
        self.process.stdin.write(request.encode())
        reply = json.loads(await asyncio.wait_for(self.process.stdout.readline(), 60))
        if "error" in reply:
            raise Refused(**reply["error"])
        return reply["result"]

    async def about(self):
        return await self.ask("about")

    async def tools(self):
        return (await self.ask("listTools"))["tools"]

    async def call(self, name, arguments):
        if self.person:
            await self.ask("willAnswer", **(self.person.answer or {}))
        result = await self.ask("callTool", name=name, arguments=arguments)
        if self.person:
            self.person.seen += await self.ask("questions")
        return result

    async def resources(self):
        # Without a cursor this client collects every page.
        return (await self.ask("listResources"))["resources"]

    async def templates(self):
        return (await self.ask("listResourceTemplates"))["resourceTemplates"]

    async def read(self, uri):
        return (await self.ask("readResource", uri=uri))["contents"]

    async def prompts(self):
        return (await self.ask("listPrompts"))["prompts"]

    async def prompt(self, name, arguments):
        return (await self.ask("getPrompt", name=name, arguments=arguments))["messages"]


class Inspector:
    """The command line of npm `@modelcontextprotocol/inspector`: a server for each request."""

    ERROR_SCHEMAS, TOOL_REFUSED = 6, 5

    def __init__(self, place, era):
        self.place, self.era = place, era
        home = place.clients / "inspector"
        self.command = home / "node_modules" / ".bin" / "mcp-inspector"
        self.name = f"MCP Inspector {npm_version(home, '@modelcontextprotocol/inspector')} ({era})"

    @contextlib.asynccontextmanager
    async def connected(self):
        yield self

    def run(self, method, *options):
        return subprocess.run(
            [
                self.command, "--cli", "--protocol-era", self.era, self.place.server,
                "-e", f"GOVFORGE_DB={self.place.ledger}", "--method", method, *options,
            ],
            capture_output=True, text=True, timeout=120, env=self.place.environment,
            stdin=subprocess.DEVNULL,
        )

    def ask(self, method, *options):
        done = self.run(method, *options)
        # A tool that is not listed has the exit code of a refused call, but no result.
        if done.returncode not in (0, self.TOOL_REFUSED) or not done.stdout.strip():
            raise Refused(None, done.stderr.strip())
        result = json.loads(done.stdout)
        # Scripts go by the exit code.
        if result.get("isError", False) != (done.returncode == self.TOOL_REFUSED):
            raise AssertionError(f"exit code {done.returncode} for {result}")
        return result

    async def about(self):
        return {}

    async def tools(self):
        return self.ask("tools/list")["tools"]

    async def call(self, name, arguments):
        options = ["--tool-name", name, "--tool-args-json", json.dumps(arguments)]
        return self.ask("tools/call", *options)

    async def resources(self):
        return self.ask("resources/list")["resources"]

    async def templates(self):
        return self.ask("resources/templates/list")["resourceTemplates"]

    async def read(self, uri):
        return self.ask("resources/read", "--uri", uri)["contents"]

    async def prompts(self):
        return self.ask("prompts/list")["prompts"]

    async def prompt(self, name, arguments):
        options = ["--prompt-name", name]
        if arguments:
            options += ["--prompt-args", *(f"{key}={value}" for key, value in arguments.items())]
        return self.ask("prompts/get", *options)["messages"]


def npm_version(home, package):
    described = home / "node_modules" / package / "package.json"
    return json.loads(described.read_text())["version"]
