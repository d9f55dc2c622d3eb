import { getErrorMessage, isSluiceError } from '../base/index.js';
import type { FcmpData, FcmpEvent } from '../events/index.js';
import type { RunReply } from '../store/records/index.js';
import type { Run } from '../runs/index.js';
import { chooseOption } from './choose-option.js';
import type { CommandIo } from './command-io.js';
import { formatLine } from './terminal-text.js';

/** Answers a run's questions with the lines that the user types, oldest question first. */
interface QuestionAnswerer {
  /** Must be called with each of the run's events. */
  onEvent(event: FcmpEvent): void;
  close(): void;
}

interface OpenQuestion {
  readonly id: string;
  /** Parses a line as the answer, or returns why it is invalid. */
  parse(line: string): { readonly reply: RunReply } | { readonly problem: string };
  /** Called when there is no more input. */
  cancel(): Promise<void>;
}

/** Answers a run's questions from standard input, which is opened with the first question. */
export function answerQuestions(run: Run, io: CommandIo): QuestionAnswerer {
  let openQuestions: OpenQuestion[] = [];
  let replies: Replies | undefined;
  let isReading = false;

  async function readLines(): Promise<void> {
    try {
      while (openQuestions.length > 0) {
        const line = await (replies ??= createReplies(io)).next();
        // Rules can answer questions while the user types: the line belongs to the oldest question that is still open.
        const [question] = openQuestions;
        if (question === undefined) return;
        if (line === undefined) {
          await question.cancel();
          remove(question);
        } else await answer(question, line);
      }
    } finally {
      // In the same turn as the last check of `open`, so the next question starts reading again.
      isReading = false;
    }
  }

  async function answer(question: OpenQuestion, line: string): Promise<void> {
    const parsed = question.parse(line);
    if ('problem' in parsed) return io.stderr.write(formatLine(parsed.problem));
    try {
      await run.reply(parsed.reply);
      remove(question);
    } catch (error) {
      if (!isSluiceError(error)) throw error;
      // A rule or a time limit might have just answered the question; the next line is for the next question.
      if (error.code === 'REPLY_NOT_EXPECTED') remove(question);
      else if (error.code !== 'INVALID_REPLY') throw error;
      await io.stderr.write(formatLine(error.message));
    }
  }

  function remove(question: OpenQuestion): void {
    openQuestions = openQuestions.filter((other) => other !== question);
  }

  function add(question: OpenQuestion): void {
    openQuestions.push(question);
    if (isReading) return;
    isReading = true;
    // Not awaited: the run can end before a reply is typed.
    readLines().catch(async (error: unknown) => cancelRun(error).catch(() => undefined));
  }

  /** Cancels the run after an error that prevents a reply, because the run would wait for the reply. */
  async function cancelRun(error: unknown): Promise<void> {
    await run.cancel();
    const reason = getErrorMessage(error).replace(/\.$/, '');
    await io.stderr.write(
      formatLine(`Cannot pass the reply to the run: ${reason}. The run is canceled; start it again.`),
    );
  }

  return {
    onEvent(event) {
      if (event.type === 'user.input.required') {
        if (event.data.answerable === false) return;
        // No reply is possible after the end of the input, so the run is canceled.
        add({ id: event.data.interaction_id, parse: parseText, cancel: async () => run.cancel() });
      } else if (event.type === 'permission.required') add(createPermissionQuestion(event.data, run));
      else if (event.type === 'permission.replied') {
        const { interaction_id: id } = event.data;
        openQuestions = openQuestions.filter((question) => question.id !== id);
      }
    },
    close: () => replies?.close(),
  };
}

function parseText(line: string): { readonly reply: RunReply } {
  return { reply: line };
}

/** A permission request is answered with yes, no, or the number of an option, and denied if standard input is closed. */
function createPermissionQuestion(
  { interaction_id, options }: FcmpData<'permission.required'>,
  run: Run,
): OpenQuestion {
  const choices = options.map(({ label }, index) => `${index + 1} ${label}`).join(', ');
  const denial = chooseOption(options, 'deny');
  return {
    id: interaction_id,
    parse(line) {
      const input = line.trim().toLowerCase();
      const decision = input === 'y' || input === 'yes' ? 'allow' : input === 'n' || input === 'no' ? 'deny' : null;
      const option = decision === null ? options[Number(input) - 1] : chooseOption(options, decision);
      if (option === undefined) return { problem: `Answer yes, no, or a number: ${choices}.` };
      return { reply: { interaction_id, option_id: option.id } };
    },
    async cancel() {
      if (denial === undefined) return run.cancel();
      const reason = 'standard input is closed, so the question cannot be answered';
      await run.reply({ interaction_id, option_id: denial.id, why: reason }).catch((error: unknown) => {
        // A rule might have answered meanwhile.
        if (!isSluiceError(error) || error.code !== 'REPLY_NOT_EXPECTED') throw error;
      });
    },
  };
}

/** The lines that the user types, one per question. */
interface Replies {
  /** Returns the next line; undefined at the end of the input. */
  next(): Promise<string | undefined>;
  /** Stops reading. */
  close(): void;
}

/** A longer line is returned in parts; typed replies are far shorter. */
const MAX_LINE = 1024 * 1024;

/** Reads standard input line by line, on demand. */
export function createReplies(io: CommandIo): Replies {
  const stdin = io.openStdin();
  const chunks = stdin[Symbol.asyncIterator]();
  const decoder = new TextDecoder();
  let pending = '';
  return {
    async next() {
      for (;;) {
        const end = pending.indexOf('\n');
        if (end !== -1) {
          const line = pending.slice(0, end).replace(/\r$/, '');
          pending = pending.slice(end + 1);
          return line;
        }
        // An error, such as a closed terminal, counts as the end of the input.
        const chunk = pending.length > MAX_LINE ? END : await chunks.next().catch(() => END);
        if (chunk.done === true) {
          const lastLine = pending;
          pending = '';
          return lastLine === '' ? undefined : lastLine;
        }
        pending += decoder.decode(chunk.value, { stream: true });
      }
    },
    close: () => stdin.close?.(),
  };
}

const END = { done: true, value: undefined } as const;
