"""Parses a text, runs a program, follows it and reads its result: python3 main.py URL TOKEN FOLDER."""

import json
import sys

from sluice_client import Client, Mismatch, Problem

url, token, folder = sys.argv[1:]
client = Client(url, token)

parsed = client.parse(body={"text": 'Sure! {"n": 3,}', "schema": {"type": "object", "required": ["n"]}})
print(parsed["status"], parsed["value"], parsed["repair_level"])

run = client.startRun(
    body={
        "engine": "command",
        "command": ["echo", '{"n": 4}'],
        "workdir": folder,
        "contract": {"schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}},
        "sandbox": "auto",
    }
)
print([event["type"] for event in client.follow(run["id"])][-1])
ended = client.getRun(id=run["id"])
print(ended["state"], json.dumps(ended["result"]["value"]))
print(len(client.listRuns(limit=1, engine="command")["items"]), client.health()["status"])

try:
    client.getRun(id="unknown")
except Problem as problem:
    print(problem.status, problem.code)
try:
    client.startRun(body={"command": ["echo"]})
except Mismatch as mismatch:
    print(mismatch)
