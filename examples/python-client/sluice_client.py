"""A client of a Sluice server for Python 3.9 and later, which needs only the standard library.

It reads the server's OpenAPI document: every operation is a method with the name of its `operationId`. Requests and
responses are validated.

    client = Client("http://127.0.0.1:7171", token="...")
    client.parse(body={"text": 'Sure: {"n": 3,}'})["value"]
    run = client.startRun(body={"engine": "codex", "prompt": "Review src/.", "workdir": "/srv/work"})
    for event in client.follow(run["id"]):
        print(event["type"])
"""

import json
import re
import urllib.error
import urllib.parse
import urllib.request


class Problem(Exception):
    """The server refused a request: `code` is one of docs/errors.md, `detail` says what to do."""

    def __init__(self, status, problem):
        self.status = status
        self.code = problem.get("code", "UNKNOWN")
        self.detail = problem.get("detail", "")
        super().__init__(f"{self.code}: {self.detail}")


class Mismatch(Exception):
    """A request or response does not match the document."""


class Client:
    def __init__(self, url, token=None, timeout=60):
        self._url = url.rstrip("/")
        self._token = token
        self._timeout = timeout
        with self._open("GET", "/openapi.json") as response:
            self._document = json.load(response)
        self._operations = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, methods in self._document["paths"].items()
            for method, operation in methods.items()
        }

    def __dir__(self):
        return [*super().__dir__(), *self._operations]

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._operations:
            raise AttributeError(f"The server has no operation {name}.")
        return lambda body=None, **arguments: self._call(name, body, arguments)

    def follow(self, run):
        """Yields the events of a run as they happen, until it has ended."""
        method, path, _ = self._operations["followRun"]
        with self._open(method, path.replace("{id}", urllib.parse.quote(run, safe=""))) as response:
            name, data = "message", []
            for line in response:
                field, _, value = line.decode().rstrip("\n").partition(":")
                if field == "event":
                    name = value.strip()
                elif field == "data":
                    data.append(value.strip())
                elif field == "" and data:
                    if name == "end":
                        return
                    if name == "message":
                        yield json.loads("\n".join(data))
                    name, data = "message", []

    def _call(self, name, body, arguments):
        method, path, operation = self._operations[name]
        query = {}
        for parameter in operation["parameters"]:
            value = arguments.pop(parameter["name"], None)
            if value is None:
                if parameter["required"]:
                    raise Mismatch(f"{name} needs {parameter['name']}: {parameter['description']}")
                continue
            self._check(parameter["schema"], value, parameter["name"])
            if parameter["in"] == "path":
                path = path.replace("{%s}" % parameter["name"], urllib.parse.quote(str(value), safe=""))
            else:
                query[parameter["name"]] = value
        if arguments:
            raise Mismatch(f"{name} has no parameter {', '.join(sorted(arguments))}.")
        request = operation.get("requestBody")
        if (request is None) != (body is None):
            raise Mismatch(f"{name} needs a body." if body is None else f"{name} has no body.")
        if request is not None:
            self._check(request["content"]["application/json"]["schema"], body, "body")
        address = path + ("?" + urllib.parse.urlencode(query) if query else "")
        with self._open(method, address, body) as response:
            content = response.read()
            described = operation["responses"][str(response.status)]["content"].get("application/json")
        if described is None:
            return content
        value = json.loads(content)
        self._check(described["schema"], value, "response")
        return value

    def _open(self, method, path, body=None):
        headers = {"accept": "*/*"}
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        data = None
        if body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data=data, headers=headers, method=method)
        try:
            return urllib.request.urlopen(request, timeout=self._timeout)
        except urllib.error.HTTPError as error:
            with error:
                content = error.read()
            try:
                problem = json.loads(content)
            except ValueError:
                problem = {"detail": content.decode(errors="replace")}
            raise Problem(error.code, problem) from None

    def _check(self, schema, value, location):
        """Checks a value against the part of JSON Schema that the document uses."""
        if "$ref" in schema:
            schema = self._document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        if "anyOf" in schema:
            reasons = []
            for choice in schema["anyOf"]:
                try:
                    return self._check(choice, value, location)
                except Mismatch as error:
                    reasons.append(str(error))
            raise Mismatch(f"{location} matches no alternative: {'; '.join(reasons)}")
        if "const" in schema and value != schema["const"]:
            raise Mismatch(f"{location} must be {schema['const']!r}.")
        if "enum" in schema and value not in schema["enum"]:
            raise Mismatch(f"{location} must be one of {schema['enum']}.")
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(_is_kind(value, kind) for kind in kinds):
            raise Mismatch(f"{location} must be {' or '.join(kinds)}.")
        if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
            raise Mismatch(f"{location} must match {schema['pattern']}.")
        if isinstance(value, list) and isinstance(schema.get("items"), dict):
            for number, item in enumerate(value):
                self._check(schema["items"], item, f"{location}[{number}]")
        if isinstance(value, dict):
            properties = schema.get("properties", {})
            for name in schema.get("required", []):
                if name not in value:
                    raise Mismatch(f"{location}.{name} is missing.")
            for name, item in value.items():
                if name in properties:
                    self._check(properties[name], item, f"{location}.{name}")
                elif schema.get("additionalProperties") is False:
                    raise Mismatch(f"{location}.{name} is not in the document.")
                elif isinstance(schema.get("additionalProperties"), dict):
                    self._check(schema["additionalProperties"], item, f"{location}.{name}")
        return None


def _is_kind(value, kind):
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "array": list, "object": dict}[kind])
