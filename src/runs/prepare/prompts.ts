import { renderRetryPrompt } from '../../json/index.js';
import type { ParseError } from '../../json/index.js';
import { renderContract } from '../contract/render-contract.js';
import type { RunSpec } from '../../records/index.js';

/**
 * What the agent is asked first: the prompt, then the contract. An agent that may ask must be told how to say that it
 * has finished, with or without a contract. A program of the caller's own gets its input as it is.
 */
export function firstPrompt(spec: RunSpec): string {
  return `${spec.prompt ?? ''}${contractText(spec)}`;
}

/** What the agent is asked when its output was refused. A session that goes on remembers the task. */
export function retryPrompt(spec: RunSpec, error: ParseError, isResumed: boolean): string {
  return renderRetryPrompt('en', error, isResumed ? contractText(spec).trim() : firstPrompt(spec));
}

function contractText({ engine, contract, mode = 'auto' }: RunSpec): string {
  if (engine === 'command' || (contract === undefined && mode === 'auto')) return '';
  return renderContract({ schema: contract?.schema, profile: contract?.profile, mode });
}
