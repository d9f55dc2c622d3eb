import { extname } from 'node:path';
import { SluiceError } from '../../base/index.js';
import { ParseError } from '../../json/index.js';
import { toParseOutput } from '../api/index.js';
import { fromJsonSchema } from '../../json/schema/index.js';
import { createThreadPool, ThreadError } from '../../base/threads/index.js';
import { RequestError } from '../http/request-error.js';
import type { ServerContext } from '../server-context.js';
import { executeParse, createSchemaCache, type ParseResponse, type ParseRequest } from './execute-parse.js';
import type { ParseReply } from './parse-thread.js';

/** Parses the text in requests: short text immediately, everything else in threads, so it delays no other request. */
export type Parsing = ReturnType<typeof createParsing>;

/** Larger bodies are parsed in a thread. */
export const INLINE_BYTES = 16 * 1024;
/** Compiling a larger schema takes milliseconds. */
const INLINE_SCHEMA_CHARACTERS = 2048;
/** The total validation steps for all candidates of an input: under a millisecond. */
const INLINE_STEPS = 20_000;

const THREADS = { threads: 2, queue: 128, taskMs: 10_000, memoryMb: 1024 } as const;

const entry = new URL(`./parse-thread${extname(import.meta.url)}`, import.meta.url);
/** Shared by all servers in the process, because they share its CPUs. */
const pool = createThreadPool<Uint8Array, ParseReply>({ entry, ...THREADS });

export function createParsing({ meter }: Pick<ServerContext, 'meter'>) {
  const budget = { steps: INLINE_STEPS };
  const compile = createSchemaCache((schema) => fromJsonSchema(schema, { trusted: false, allowance: budget }));
  const encoder = new TextEncoder();

  /** Parses text immediately; returns undefined if the text or its schema would take too long. */
  function parseInline(request: ParseRequest): ParseResponse | undefined {
    const { schema, align } = request;
    if (align === true || isLargeSchema(schema)) return undefined;
    budget.steps = INLINE_STEPS;
    const answer = executeParse(request, compile);
    return budget.steps < 0 ? undefined : answer;
  }

  async function parseInThread(body: Uint8Array, caller: string): Promise<Uint8Array<ArrayBuffer>> {
    const reply = await pool.run(body, caller).catch(describeFailure);
    if ('code' in reply) {
      const { code, message, issues } = reply;
      if (code === 'INVALID_BODY') throw new RequestError(code, message, issues === undefined ? {} : { issues });
      throw new SluiceError(code, message);
    }
    meter.countParse(reply.parsed);
    return reply.bytes;
  }

  /** Input that takes too much time or memory gets the same result as input that exceeds a limit. */
  function describeFailure(error: unknown): ParseReply {
    if (!(error instanceof ThreadError)) throw error;
    if (error.reason === 'busy')
      throw new RequestError('SERVER_BUSY', 'The server is busy parsing other requests. Try again in a few seconds.');
    if (error.reason === 'not_started')
      throw new RequestError('SERVER_BUSY', `${error.message} Try again when the server's machine has less to do.`);
    const limit =
      error.reason === 'timed_out' ? `${THREADS.taskMs / 1000} seconds` : `${THREADS.memoryMb} MiB of memory`;
    const message = `Parsing this text takes more than ${limit}. Send a shorter text or a simpler schema.`;
    const failure = { ok: false, status: 'failed', repairLevel: 'none', warnings: [], attempts: [] } as const;
    const output = toParseOutput({ ...failure, error: new ParseError('LIMIT_EXCEEDED', message, { attempts: [] }) });
    const parsed = { status: 'failed', repairLevel: 'none', code: 'LIMIT_EXCEEDED' } as const;
    return { bytes: encoder.encode(JSON.stringify(output)), parsed };
  }

  return {
    /** Handles a request whose body was parsed; returns JSON. */
    async answer(request: ParseRequest, caller: string): Promise<string | Uint8Array<ArrayBuffer>> {
      const answer = parseInline(request);
      if (answer === undefined) return parseInThread(encoder.encode(JSON.stringify(request)), caller);
      meter.countParse(answer.parsed);
      return answer.json;
    },
    /** Handles a request whose body is too large to be parsed here. */
    parseInThread,
  };
}

function isLargeSchema(schema: ParseRequest['schema']): boolean {
  return schema !== undefined && JSON.stringify(schema).length > INLINE_SCHEMA_CHARACTERS;
}
