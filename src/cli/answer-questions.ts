import { isSluiceError } from '../base/index.js';
import type { FcmpData, FcmpEvent } from '../events/index.js';
import type { RunReply } from '../records/index.js';
import type { Run } from '../runs/index.js';
import type { CommandIo } from './command-io.js';
import { createReplies } from './replies.js';
import type { Replies } from './replies.js';
import { formatLine } from './terminal-text.js';

/** Passes the lines a person types to the questions of a run, oldest first. */
export interface QuestionAnswerer {
  /** Takes every event of the run. */
  onEvent(event: FcmpEvent): void;
  close(): void;
}

interface OpenQuestion {
  readonly id: string;
  /** Reads a line as the answer, or says why it is not one. */
  read(line: string): { readonly reply: RunReply } | { readonly problem: string };
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
      // Rules answer some questions while a line is waited for: it belongs to the oldest that is open now.
      const [question] = open;
      if (question === undefined) return;
      if (line === undefined) {
        await question.cancel();
        open = open.filter((one) => one !== question);
        continue;
      }
      const meant = question.read(line);
      if ('problem' in meant) {
        await io.stderr.write(formatLine(meant.problem));
        continue;
      }
      try {
        await run.reply(meant.reply);
        open = open.filter((one) => one !== question);
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
    // Concurrently: the run may end before a reply is typed.
    void readLines()
      .catch(() => undefined)
      .finally(() => {
        isReading = false;
      });
  }

  return {
    onEvent(event) {
      if (event.type === 'user.input.required') {
        // No reply can come any more.
        add({ id: event.data.interaction_id, read: readText, cancel: async () => run.cancel() });
      } else if (event.type === 'permission.required') add(permissionQuestion(event.data, run));
      else if (event.type === 'permission.replied') {
        const { interaction_id: id } = event.data;
        open = open.filter((one) => one.id !== id);
      }
    },
    close: () => replies?.close(),
  };
}

function readText(line: string): { readonly reply: RunReply } {
  return { reply: line };
}

/** Answered with yes, no, or the number of an option; denied if standard input is closed. */
function permissionQuestion({ interaction_id, options }: FcmpData<'permission.required'>, run: Run): OpenQuestion {
  const listed = options.map(({ label }, index) => `${index + 1} ${label}`).join(', ');
  const denial = options.find(({ kind }) => kind.startsWith('reject'));
  return {
    id: interaction_id,
    read(line) {
      const word = line.trim().toLowerCase();
      const start = word === 'y' || word === 'yes' ? 'allow' : word === 'n' || word === 'no' ? 'reject' : null;
      const option = start === null ? options[Number(word) - 1] : options.find(({ kind }) => kind.startsWith(start));
      if (option === undefined) return { problem: `Answer yes, no, or a number: ${listed}.` };
      return { reply: { interaction_id, option_id: option.id } };
    },
    async cancel() {
      if (denial === undefined) return run.cancel();
      const why = 'standard input is closed, so the question cannot be answered';
      // A rule may have answered meanwhile.
      await run.reply({ interaction_id, option_id: denial.id, why }).catch(() => undefined);
    },
  };
}
