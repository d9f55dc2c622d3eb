import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createTranslator } from '../../events/index.js';
import { ParseError, parse, type Profile } from '../../json/index.js';
import { fromJsonSchema } from '../../json/schema/index.js';
import { renderContract, renderFirstPrompt, renderRetry } from './render-contract.js';

const SCHEMA = {
  type: 'object',
  properties: { summary: { type: 'string' }, risk: { enum: ['low', 'high'] } },
  required: ['summary', 'risk'],
  additionalProperties: false,
} as const;

function readGolden(name: string): string {
  return readFileSync(new URL(`./fixtures/${name}.txt`, import.meta.url), 'utf8');
}

describe('renderContract', () => {
  it.each([
    ['tagged-auto', { schema: SCHEMA, profile: 'tagged', mode: 'auto' }],
    ['default-interactive', { schema: SCHEMA, mode: 'interactive' }],
    ['unified-auto', { schema: SCHEMA, profile: 'unified', mode: 'auto' }],
    ['list-auto', { schema: { type: 'array', items: { type: 'string' } }, mode: 'auto' }],
  ] as const)('equals fixtures/%s.txt', (name, terms) => {
    expect(renderContract(terms)).toBe(readGolden(name));
  });

  it('is separated from the prompt by a blank line', () => {
    expect(`Do it.${renderContract({ mode: 'auto' })}`).toMatch(/^Do it\.\n\n<skill_content/u);
  });

  it('renders the JSON Schema of a library that can export it', () => {
    const text = renderContract({ schema: z.object({ answer: z.number() }), mode: 'auto' });
    expect(text).toContain('"answer": {\n      "type": "number"\n    }');
  });

  it('renders the JSON Schema of valibot through its package', () => {
    expect(renderContract({ schema: v.object({ answer: v.number() }), mode: 'auto' })).toContain('"answer"');
  });

  it('describes only the tags and the marker if a schema cannot be exported', () => {
    const text = renderContract({ schema: fromJsonSchema(SCHEMA), profile: 'tagged', mode: 'auto' });
    expect(text).toContain('<json>');
    expect(text).toContain('__SKILL_DONE__');
    expect(text).not.toContain('JSON Schema');
  });

  it('does not mention the removal of the marker if the schema declares it', () => {
    const schemaWithMarker = { type: 'object', properties: { __SKILL_DONE__: { const: true } } };
    expect(renderContract({ schema: SCHEMA, mode: 'auto' })).toContain('removed');
    expect(renderContract({ schema: schemaWithMarker, mode: 'auto' })).not.toContain('removed');
  });

  it.each(['generic', 'unified'] as const)('does not mention tags in profile %s, which has none', (profile) => {
    expect(renderContract({ schema: SCHEMA, profile, mode: 'auto' })).not.toContain('<json>');
  });

  it.each(['default', 'tagged'] as const)(
    'asks for thinking before the result in profile %s, unless it is off',
    (profile) => {
      const text = renderContract({ schema: SCHEMA, profile, mode: 'auto' });
      expect(text.indexOf('<thinking> and </thinking>')).toBeGreaterThan(0);
      expect(text.indexOf('<json> and </json>')).toBeGreaterThan(text.indexOf('</thinking>'));
      expect(renderContract({ schema: SCHEMA, profile, thinking: false, mode: 'auto' })).not.toContain('thinking');
      const prompt = { engine: 'codex', prompt: 'Count.', workdir: '.' } as const;
      expect(renderFirstPrompt({ ...prompt, contract: { profile } })).toContain('</thinking>');
      expect(renderFirstPrompt({ ...prompt, contract: { profile, thinking: false } })).not.toContain('thinking');
    },
  );

  it.each(['generic', 'unified'] as const)('does not ask for thinking in profile %s, which has no tags', (profile) => {
    expect(renderContract({ schema: SCHEMA, profile, mode: 'auto' })).not.toContain('thinking');
  });

  it('lets the agent ask only in interactive mode', () => {
    expect(renderContract({ mode: 'interactive' })).toContain('ask one question');
    expect(renderContract({ mode: 'auto' })).toContain('Nobody can answer');
  });

  it('escapes tags inside a schema', () => {
    const schema = { type: 'object', description: 'Put it in <json> and </skill_content>.' };
    const text = renderContract({ schema, profile: 'unified', mode: 'auto' });
    expect(text).not.toContain('<json>');
    expect(text.match(/<\/skill_content>/gu)).toHaveLength(1);
  });
});

describe('an agent that repeats its contract', () => {
  const schemaWithMarkerExample = { type: 'object', examples: [{ __SKILL_DONE__: true }] };

  it.each(['default', 'tagged', 'generic', 'unified'] as const)(
    'has not printed the done marker (profile %s)',
    (profile) => {
      expect(readEnd(renderContract({ schema: schemaWithMarkerExample, profile, mode: 'interactive' }))).toBe(
        'unknown',
      );
    },
  );

  it('has finished once it prints the marker itself', () => {
    const contract = renderContract({ schema: schemaWithMarkerExample, mode: 'interactive' });
    expect(readEnd(`${contract}<json>{"answer": 7, "__SKILL_DONE__": true}</json>\n`)).toBe('completed');
  });
});

describe('an answer in the contract’s format', () => {
  it.each([
    ['default', 'Done.\n<json>{"summary": "s", "risk": "low"}</json>'],
    ['tagged', '<thinking>\nIt is small.\n</thinking>\n\n<json>\n{"summary": "s", "risk": "low"}\n</json>'],
    ['generic', '{"summary": "s", "risk": "low"}'],
    ['unified', '{"summary": "s", "risk": "low"}'],
  ] as const satisfies readonly (readonly [Profile, string])[])(
    'is parsed completely in profile %s',
    (profile, text) => {
      expect(parse(text, fromJsonSchema(SCHEMA), { profile })).toMatchObject({
        status: 'success',
        value: { summary: 's', risk: 'low' },
      });
    },
  );
});

describe('a retry prompt', () => {
  const error = new ParseError('NO_JSON', 'nothing found', { attempts: [] });
  const spec = { engine: 'codex', prompt: 'Count.', workdir: '.' } as const;

  it.each(['default', 'tagged', 'generic', 'unified'] as const)(
    'describes the same format as the contract (profile %s)',
    (profile) => {
      const contract = { schema: SCHEMA, profile };
      const prompt = renderRetry({ ...spec, contract }, error, true);
      const form = renderContract({ ...contract, mode: 'auto' });
      expect(prompt.endsWith(form.trim())).toBe(true);
      const explanation = prompt.slice(0, -form.trim().length);
      expect(explanation).toContain('[NO_JSON] nothing found');
      // The text contains neither tags nor Markdown, because only the contract defines the format.
      expect(explanation).not.toMatch(/json>|only|without/i);
    },
  );

  it('repeats the task in a new session, not in a resumed one', () => {
    const contract = { schema: SCHEMA };
    expect(renderRetry({ ...spec, contract }, error, false)).toContain('\n\nCount.\n\n<skill_content');
    expect(renderRetry({ ...spec, contract }, error, true)).not.toContain('Count.');
  });

  it('describes the format itself for a command without a contract', () => {
    const command = { engine: 'command', command: ['x'], workdir: '.' } as const;
    const ask = (profile: Profile, thinking = true) =>
      renderRetry({ ...command, contract: { profile, thinking } }, error, false);
    expect(ask('tagged')).toContain('between the tags <thinking> and </thinking>');
    expect(ask('tagged', false)).not.toContain('<thinking>');
    expect(ask('tagged')).toContain('between the tags <json> and </json>');
    expect(ask('generic')).toContain('without any words or Markdown around it');
  });
});

/** Returns the state an attempt ends in if its agent prints this text. */
function readEnd(text: string): unknown {
  const translator = createTranslator({ engine: 'generic', runId: 'r', attempt: 1, mode: 'interactive' });
  const emitted = [
    ...translator.push('stdout', new TextEncoder().encode(text)),
    ...translator.end({ exitCode: 0, signal: null }),
  ];
  const states = emitted.flatMap(({ protocol, event }) =>
    protocol === 'rasp' && event.event.type === 'lifecycle.completion.state' ? [event.data] : [],
  );
  return (states.at(-1) as { state?: unknown } | undefined)?.state;
}
