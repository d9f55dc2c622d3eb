import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Token } from '../config/index.js';
import type { Caller } from './tokens.js';

/** A token for one run, and the worker id of the claim that it belongs to. */
export interface RunToken {
  readonly token: string;
  readonly workerId: string;
}

const RUN_TOKEN = /^slr_(?<name>[\w-]{1,400})\.(?<random>[\w-]{43})\.(?<signature>[\w-]{43})$/;

/**
 * Creates a token for one run. The claim's worker id is the token's hash, so the token ends with its claim and nothing
 * has to be stored. It is signed with a key of `parent`, so that a forged one is refused without asking the store.
 */
export function createRunToken(parent: Token): RunToken {
  const signed = `${Buffer.from(parent.name).toString('base64url')}.${randomBytes(32).toString('base64url')}`;
  const token = `slr_${signed}.${sign(parent, signed).toString('base64url')}`;
  return { token, workerId: hashRunToken(token) };
}

/** Creates a function that finds the caller of a run token; undefined if the token was not created here. */
export function createRunTokenCheck(tokens: readonly Token[]): (sent: string) => Caller | undefined {
  const parents = new Map(tokens.filter(isParent).map((token) => [token.name, token]));
  return (sent) => {
    const { name = '', random = '', signature = '' } = RUN_TOKEN.exec(sent)?.groups ?? {};
    const parent = parents.get(Buffer.from(name, 'base64url').toString());
    if (parent === undefined) return undefined;
    const expected = sign(parent, `${name}.${random}`);
    const sentSignature = Buffer.from(signature, 'base64url');
    const isSigned = sentSignature.length === expected.length && timingSafeEqual(sentSignature, expected);
    return isSigned ? { name: hashRunToken(sent), scopes: new Set(['none', 'worker']), isRun: true } : undefined;
  };
}

/** Whether run tokens can be created on behalf of this token. */
export function isParent({ scopes }: Token): boolean {
  return scopes.includes('worker');
}

function hashRunToken(token: string): string {
  return `run:${createHash('sha256').update(token).digest('hex')}`;
}

function sign({ value }: Token, text: string): Buffer {
  const key = createHmac('sha256', value).update('sluice run token').digest();
  return createHmac('sha256', key).update(text).digest();
}
