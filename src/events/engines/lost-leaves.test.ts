import { describe, expect, it } from 'vitest';
import { readFixtures, translateFixture } from '../contract/engine-fixture.contract.js';
import { findLostLeaves } from '../contract/lost-leaves.contract.js';
import { findMeaning } from '../contract/meaning.contract.js';
import { ENGINES } from './index.js';

/** Fields that are omitted on purpose, and why. */
const OMITTED_FIELDS: readonly { readonly why: string; readonly paths: RegExp }[] = [
  {
    why: 'the event type contains the same information',
    paths: /(?:: |\.)(?:type|subtype|role|status|delta|is_error|success)$/u,
  },
  { why: 'the request has its own id', paths: /^control_request: request_id$/u },
  { why: 'the event has its own time', paths: /: timestamp$|^document: .*(?:AtMs|[a-z]At)$/u },
  {
    why: 'the event contains the same information in its own words',
    paths: /^document: (?:method|id|params\.(?:thread|turn|item)Id)$/u,
  },
  {
    why: 'no other record refers to it',
    paths: /: (?:uuid|(?:event\.)?message\.id|item\.id|part\.(?:id|messageID)|event\.index)$/u,
  },
  {
    why: 'the order of the records contains the same information',
    paths: /^(?:\w+\.\w+): (?:id|parentId|ephemeral|data\.messageId)$/u,
  },
  {
    why: 'the event has the count under a different name',
    paths:
      /\.(?:usage|tokens)\.(?:\w+\.)?(?:\w*cache\w*|read|write|\w*reasoning\w*)$|: usage\.(?:cache_write_input|reasoning_output)_tokens$/u,
  },
  { why: 'the event has the count under a different name', paths: /^document: params\.tokenUsage\./u },
  { why: 'repeats an item that was printed before', paths: /^document: params\.turn\.(?:id|items\..*)$/u },
  { why: 'no other record refers to it', paths: /^document: params\.item\.id$/u },
  { why: 'a message printed block by block repeats it', paths: /^assistant: message\.usage\./u },
  { why: 'proves a thought to the model provider', paths: /\.signature$/u },
  {
    why: 'repeats the last message, or the error before it',
    paths: /^result \w+: (?:result|api_error_status)$|^assistant: is_api_error_message$/u,
  },
  { why: 'in the detail under a different name', paths: /: error\.data\.isRetryable$/u },
];

const RECORD_ENGINES = ['codex', 'gemini', 'opencode', 'claude', 'qwen', 'copilot'] as const;

describe.each(RECORD_ENGINES)('%s records', (engine) => {
  const fixtures = readFixtures(new URL(`./${engine}/fixtures/`, import.meta.url));

  it('lose no values except those omitted on purpose', () => {
    const lostLeaves = fixtures.flatMap((fixture) =>
      findLostLeaves(fixture, ENGINES[engine], translateFixture(fixture, engine).emitted),
    );
    const paths = lostLeaves
      .map(({ path }) => path)
      .filter((path) => !OMITTED_FIELDS.some(({ paths: known }) => known.test(path)));
    expect([...new Set(paths)].toSorted()).toEqual([]);
  });

  it('lose hundreds of values if there are no events, so the comparison can fail', () => {
    expect(fixtures.flatMap((fixture) => findLostLeaves(fixture, ENGINES[engine], [])).length).toBeGreaterThan(300);
  });
});

describe.each([...RECORD_ENGINES, 'acp'] as const)('%s records', (engine) => {
  const fixtures = readFixtures(new URL(`./${engine}/fixtures/`, import.meta.url));

  it('have at least nine tenths of what they mean in named fields of FCMP', () => {
    const leaves = fixtures.flatMap((fixture) =>
      findMeaning(fixture, ENGINES[engine], translateFixture(fixture, engine).emitted),
    );
    const missingPaths = leaves.filter(({ isNamed }) => !isNamed).map(({ path }) => path);
    expect(missingPaths.length > leaves.length / 10 ? missingPaths : []).toEqual([]);
    const isNamedWithoutEvents = fixtures.flatMap((fixture) => findMeaning(fixture, ENGINES[engine], []));
    expect(isNamedWithoutEvents.filter(({ isNamed }) => isNamed)).toEqual([]);
  });
});
