import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import fc from 'fast-check';
import { SluiceError } from '../base/index.js';
import type { FcmpEvent, FcmpData, FcmpType } from '../events/index.js';
import type { RunReply } from '../store/records/index.js';
import type { Run } from '../runs/index.js';
import { answerQuestions, readReplies, createEventPrinter, describeEvent } from './conversation.js';
import { createMemoryIo } from './fixtures/memory-io.js';
import { createFcmpEvent } from './fixtures/fcmp-event.js';

/** Some agents list the permanent options first. */
const OPTIONS = [
  { id: 'always', label: 'Always allow', kind: 'allow_always' },
  { id: 'once', label: 'Allow', kind: 'allow_once' },
  { id: 'never', label: 'Always deny', kind: 'reject_always' },
  { id: 'no', label: 'Deny', kind: 'reject_once' },
];

function createQuestion(id: string): FcmpEvent {
  const data = { interaction_id: id, tool: 'shell', input: {}, options: OPTIONS };
  return { type: 'permission.required', data } as unknown as FcmpEvent;
}

/** Answers questions with lines from `stdin`; `onReply` is called before a reply is recorded. */
function startAnswering(stdin: string, onReply: (reply: RunReply) => void = () => undefined) {
  const replies: RunReply[] = [];
  const io = createMemoryIo({}, { stdin });
  const reply = async (runReply: RunReply): Promise<void> => {
    onReply(runReply);
    replies.push(runReply);
  };
  const cancel = vi.fn<() => Promise<void>>(async () => undefined);
  const run = { reply, cancel } as unknown as Run;
  return { answerer: answerQuestions(run, io), replies, cancel, printed: io.printed };
}

describe('answerQuestions', () => {
  it.each([
    ['yes', 'once'],
    ['y', 'once'],
    ['no', 'no'],
    ['1', 'always'],
  ])('maps "%s" to the option "%s"', async (line, option) => {
    const { answerer, replies } = startAnswering(`${line}\n`);
    answerer.onEvent(createQuestion('px_1_1'));
    await expect.poll(() => replies).toEqual([{ interaction_id: 'px_1_1', option_id: option }]);
  });

  it.each([0, 1, 2, 3, 4, 5, 6])(
    'answers a question that arrives %i microtasks after the last reply',
    async (turns) => {
      const askAgain = async (): Promise<void> => {
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        answerer.onEvent(createQuestion('px_1_2'));
      };
      const { answerer, replies } = startAnswering('yes\nno\n', () => {
        if (replies.length === 0) void askAgain();
      });
      answerer.onEvent(createQuestion('px_1_1'));
      await expect.poll(() => replies).toMatchObject([{ interaction_id: 'px_1_1' }, { interaction_id: 'px_1_2' }]);
    },
  );

  it('continues with the next question if a question was answered elsewhere', async () => {
    const { answerer, replies, printed } = startAnswering('yes\nno\n', (reply) => {
      if (typeof reply !== 'string' && reply.interaction_id === 'px_1_1')
        throw new SluiceError('REPLY_NOT_EXPECTED', 'No reply to px_1_1 is expected.');
    });
    answerer.onEvent(createQuestion('px_1_1'));
    answerer.onEvent(createQuestion('px_1_2'));
    await expect.poll(() => replies).toEqual([{ interaction_id: 'px_1_2', option_id: 'no' }]);
    expect(printed.stderr).toContain('No reply to px_1_1 is expected.');
  });

  it.each([
    ['a reply', 'yes\n'],
    ['the denial after the end of the input', ''],
  ])('cancels the run and reports why if %s cannot be stored', async (_, stdin) => {
    const { answerer, cancel, printed } = startAnswering(stdin, () => {
      throw new Error('no space left on device');
    });
    answerer.onEvent(createQuestion('px_1_1'));
    await expect
      .poll(() => printed.stderr)
      .toBe(
        'sluice: Cannot pass the reply to the run: no space left on device. The run is canceled; start it again.\n',
      );
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('continues if a question was answered elsewhere at the end of the input', async () => {
    const { answerer, replies, cancel } = startAnswering('', (reply) => {
      if (typeof reply !== 'string' && reply.interaction_id === 'px_1_1')
        throw new SluiceError('REPLY_NOT_EXPECTED', 'No reply to px_1_1 is expected.');
    });
    answerer.onEvent(createQuestion('px_1_1'));
    answerer.onEvent(createQuestion('px_1_2'));
    await expect.poll(() => replies).toMatchObject([{ interaction_id: 'px_1_2', option_id: 'no' }]);
    expect(cancel).not.toHaveBeenCalled();
  });
});

async function readAll(stdin: string): Promise<(string | undefined)[]> {
  const replies = readReplies(createMemoryIo({}, { stdin }).openStdin());
  const read: (string | undefined)[] = [];
  do read.push((await replies.next()).value);
  while (read.at(-1) !== undefined);
  return read;
}

describe('replies', () => {
  it('are the lines of standard input, one for each question', async () => {
    expect(await readAll('yes\r\nno, später\n')).toEqual(['yes', 'no, später', undefined]);
  });

  it('include a last line without a trailing newline', async () => {
    expect(await readAll('only')).toEqual(['only', undefined]);
  });

  it('can be empty lines', async () => {
    expect(await readAll('\n')).toEqual(['', undefined]);
  });

  it('end when the terminal is closed or the run has ended', async () => {
    const closed: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({ next: async () => Promise.reject(new Error('EIO: i/o error, read')) }),
    };
    expect(await readReplies(closed).next()).toEqual({ done: true, value: undefined });

    const silent = new PassThrough();
    const next = readReplies(silent).next();
    silent.destroy();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('end immediately if standard input is empty', async () => {
    expect(await readAll('')).toEqual([undefined]);
  });
});

const delta = (text: string, message_id = 'm_1_1') => createFcmpEvent('assistant.message.delta', { message_id, text });
const final = (text: string, message_id = 'm_1_1') => createFcmpEvent('assistant.message.final', { message_id, text });
const warning = () => createFcmpEvent('diagnostic.warning', { code: 'NO_OUTPUT', message: 'x' });

function printAll(...events: readonly FcmpEvent[]): string[] {
  const printer = createEventPrinter();
  return events.map((event) => printer.format(event));
}

describe('a message', () => {
  it('is shown while it is written, and not again when it is complete', () => {
    expect(printAll(delta('Do'), delta('ne.'), final('Done.'))).toEqual(['Do', 'ne.', '\n']);
    expect(printAll(delta('one\n'), delta('two\n'), final('one\ntwo\n'))).toEqual(['one\n', 'two\n', '']);
  });

  it('that was not streamed is shown completely', () => {
    expect(printAll(final('Done.\n\n'))).toEqual(['Done.\n']);
    expect(printAll(delta('A'), final('B', 'm_1_2'))).toEqual(['A', '\nB\n']);
  });

  it('is completed with its missing part at the end', () => {
    expect(printAll(delta('Do'), final('Done.'))).toEqual(['Do', 'ne.\n']);
  });

  it('whose final text differs is shown again', () => {
    expect(printAll(delta('Do'), final('No.'))).toEqual(['Do', '\nNo.\n']);
  });

  it('does not share its line with anything else', () => {
    expect(printAll(delta('Do'), warning(), delta('ne.'), final('Done.'))).toEqual([
      'Do',
      '\n! NO_OUTPUT: x\n',
      'ne.',
      '\n',
    ]);
    expect(printAll(delta('a'), delta('b', 'm_1_2'))).toEqual(['a', '\nb']);
  });

  it('never moves the cursor, wherever it is split', () => {
    expect(printAll(delta('\u001B'), delta('[2J')).join('')).toBe('␛[2J');
  });

  it('is shown once and completely, wherever it is split', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (chunks) => {
        const text = chunks.join('');
        const streamed = printAll(...chunks.map((chunk) => delta(chunk)), final(text)).join('');
        const once = printAll(final(text)).join('');
        expect(streamed.trimEnd()).toBe(once.trimEnd());
      }),
    );
  });

  it('that is very long is only partly remembered, and its end is printed again', () => {
    const longText = 'x'.repeat(700_000);
    const [, , , last] = printAll(delta(longText), delta(longText), delta(longText), final(longText.repeat(3)));
    expect(last?.length).toBeGreaterThan(0);
  });
});

const describeOne = <Type extends FcmpType>(type: Type, data: FcmpData<Type>): string =>
  describeEvent(createFcmpEvent(type, data));

describe('the description of an event', () => {
  it('is the message text', () => {
    expect(describeOne('assistant.message.final', { message_id: 'm_1_1', text: 'Done.\n\n' })).toBe('Done.\n');
  });

  it('is empty while a message or a thought is still being written', () => {
    expect(describeOne('assistant.message.delta', { message_id: 'm_1_1', text: 'Do' })).toBe('');
    expect(describeOne('assistant.reasoning', { text: 'hm', partial: true })).toBe('');
  });

  it('shortens tool input', () => {
    const input = { command: 'x'.repeat(1000) };
    const description = describeOne('assistant.tool_call', {
      tool_call_id: 't',
      name: 'shell',
      status: 'started',
      input,
    });
    expect(description).toMatch(/^→ shell \{"command":"x+…\n$/);
    expect(description.length).toBeLessThan(200);
  });

  it('shows how a tool ended', () => {
    const call = { tool_call_id: 't', name: 'shell' };
    expect(describeOne('assistant.tool_call', { ...call, status: 'completed' })).toBe('✓ shell\n');
    expect(describeOne('assistant.tool_call', { ...call, status: 'failed', error: 'exit 2' })).toBe(
      '✗ shell: exit 2\n',
    );
  });

  it('shows how the run ended', () => {
    expect(describeOne('conversation.completed', { state: 'completed', reason_code: 'OUTPUT_VALIDATED' })).toBe(
      '■ completed: OUTPUT_VALIDATED\n',
    );
    const error = { category: 'timeout', code: 'RUN_TIMED_OUT', message: 'after 5 s' } as const;
    expect(describeOne('conversation.failed', { error })).toBe('■ failed: RUN_TIMED_OUT: after 5 s\n');
  });

  it('contains no control sequences from the agent', () => {
    expect(describeOne('assistant.message.final', { message_id: 'm', text: '\u001B[2J\u009B1A' })).toBe(
      '␛[2J<U+009B>1A\n',
    );
    expect(describeOne('artifact.created', { path: 'a\u001B[31m.txt', made_by: null })).toBe('+ a␛[31m.txt\n');
  });
});
