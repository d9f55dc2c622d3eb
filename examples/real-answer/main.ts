/**
 * Parses the output of two real coding agents and a badly broken answer, and prints where the value was found, the
 * repairs, and the result. Run it with `npm run demo`.
 */
import { readFileSync } from 'node:fs';
import { parse, type ParseResult } from 'sluice/json';
import { z } from 'zod';

const Notes = z.looseObject({ __SKILL_DONE__: z.literal(true), title: z.string() });

for (const file of ['gemini-0.61.0-fenced.log', 'codex-0.166.0-tagged.log', 'made-up-worst-case.log']) {
  const text = readFileSync(new URL(`fixtures/${file}`, import.meta.url), 'utf8');
  console.log(`── ${file}, ${text.length} characters ${'─'.repeat(60 - file.length)}`);
  console.log(`${shorten(text, 300)}\n`);
  describe(parse(text, Notes, { label: file }), text);
}

function describe(result: ParseResult<z.infer<typeof Notes>>, text: string): void {
  switch (result.status) {
    case 'success': {
      const { finder, start, end } = result.candidate;
      console.log(`candidate    found by "${finder}" at ${start}–${end}: ${shorten(text.slice(start, end), 60)}`);
      console.log(`repair level ${result.repairLevel}`);
      for (const { kind, message, offset } of result.repairs)
        console.log(`repair       ${kind} at ${offset}: ${message}`);
      for (const { code, message } of result.warnings) console.log(`warning      ${code}: ${message}`);
      console.log(`value        ${JSON.stringify(result.value, null, 2).replaceAll('\n', '\n             ')}\n`);
      return;
    }
    case 'failed':
      console.log(`failed       ${result.error.code}: ${result.error.message}\n`);
      process.exitCode = 1;
      return;
    case 'comment':
      console.log(`comment      ${result.comment}\n`);
  }
}

function shorten(text: string, length: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length)}…` : line;
}
