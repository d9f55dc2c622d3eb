import type { StreamName } from '../../events/index.js';
import { compileSecrets } from './compile-secrets.js';
import type { Masker } from './masker.js';
import { sensitiveEnvironment } from './sensitive-environment.js';

/** Takes the secrets of an attempt out of everything that is written down, at equal length. */
export interface AttemptSecrets {
  /** The next bytes of a stream; what may still become a secret is held back. */
  mask(stream: StreamName, bytes: Uint8Array): Uint8Array;
  /** What was held back. */
  endMask(): { readonly stream: StreamName; readonly bytes: Uint8Array }[];
  maskText(text: string): string;
}

/** The secrets are what the agent is handed in sensitive variables, and what the configured patterns match. */
export function createAttemptSecrets(
  env: Readonly<Record<string, string>>,
  patterns: readonly string[],
): AttemptSecrets {
  const secrets = compileSecrets({ values: sensitiveEnvironment(env), patterns });
  const maskers = new Map<StreamName, Masker>();
  return {
    mask(stream, bytes) {
      const masker = maskers.get(stream) ?? secrets.createMasker();
      maskers.set(stream, masker);
      return masker.push(bytes);
    },
    endMask: () => [...maskers].map(([stream, masker]) => ({ stream, bytes: masker.end() })),
    maskText: (text) => secrets.maskText(text),
  };
}
