import { isSluiceError } from '../base/index.js';
import type { FcmpData, FcmpEvent } from '../events/index.js';
import type { RunReply } from '../records/index.js';
import type { Run } from '../runs/index.js';
import type { CommandIo } from './command-io.js';
import { createReplies } from './replies.js';
import type { Replies } from './replies.js';
import { formatLine } from './terminal-text.js';

/** Answers the questions of a run with the lines that a person types, oldest question first. */
export interface QuestionAnswerer {
  /** Must be called with every event of the run. */
  onEvent(event: FcmpEvent): void;
  close(): void;
}

interface OpenQuestion {
  readonly id: string;
  /** Parses a line as the answer, or returns what is wrong with it. */
  parse(line: string): { readonly reply: RunReply } | { readonly problem: string };
  /** Called when there is no more input. */
  cancel(): Promise<void>;
}

/** Answers the questions of a run from standard input, which is opened with the first one. */
export function answerQuestions(run: Run, io: CommandIo): QuestionAnswerer {
  let open: OpenQuestion[] = [];
  let replies: Replies | undefined;
  let isReading = false;

  async function readLines(): Promise<void> {
    while (open.length > 0) {
      const line = await (replies ??= createReplies(io)).next();
      // Rules may answer questions while the person types: the line belongs to the oldest question that is open now.
      const [question] = open;
      if (question === undefined) return;
      if (line === undefined) {
        await question.cancel();
        open = open.filter((other) => other !== question);
        continue;
      }
      const parsed = question.parse(line);
      if ('problem' in parsed) {
        await io.stderr.write(formatLine(parsed.problem));
        continue;
      }
      try {
        await run.reply(parsed.reply);
        open = open.filter((other) => other !== question);
      } catch (error) {
        if (!isSluiceError(error) || error.code !== 'INVALID_REPLY') throw error;
        await io.stderr.write(formatLine(error.message));
      }
    }
  }

  function add(question: OpenQuestion): void {
    open.push(question);
    if (isReading) return;
    isReading = true;
    // Not awaited: the run may end before a reply is typed.
    void readLines()
      .catch(() => undefined)
      .finally(() => {
        isReading = false;
      });
  }

  return {
    onEvent(event) {
      if (event.type === 'user.input.required') {
        // After the end of the input no reply can come.
        add({ id: event.data.interaction_id, parse: parseText, cancel: async () => run.cancel() });
      } else if (event.type === 'permission.required') add(createPermissionQuestion(event.data, run));
      else if (event.type === 'permission.replied') {
        const { interaction_id: id } = event.data;
        open = open.filter((question) => question.id !== id);
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
  const listed = options.map(({ label }, index) => `${index + 1} ${label}`).join(', ');
  const denial = options.find(({ kind }) => kind.startsWith('reject'));
  return {
    id: interaction_id,
    parse(line) {
      const typed = line.trim().toLowerCase();
      const start = typed === 'y' || typed === 'yes' ? 'allow' : typed === 'n' || typed === 'no' ? 'reject' : null;
      const option = start === null ? options[Number(typed) - 1] : options.find(({ kind }) => kind.startsWith(start));
      if (option === undefined) return { problem: `Answer yes, no, or a number: ${listed}.` };
      return { reply: { interaction_id, option_id: option.id } };
    },
    async cancel() {
      if (denial === undefined) return run.cancel();
      const why = 'standard input is closed, so the question cannot be answered';
      // A rule may have answered in the meantime.
      await run.reply({ interaction_id, option_id: denial.id, why }).catch(() => undefined);
    },
  };
}
