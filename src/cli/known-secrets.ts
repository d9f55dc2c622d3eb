import { readSecrets } from '../config/index.js';
import type { Config } from '../config/index.js';
import type { Secrets } from '../runs/index.js';

/** The secrets of the configuration and of the environment, and tokens that replaced them while this process ran. */
export interface KnownSecrets {
  /** Longest first, so that a secret which contains another one is masked as a whole. */
  readonly values: readonly string[];
  /** Values that are secret from now on. What was secret before stays so: it may still be in use elsewhere. */
  add(values: readonly string[]): void;
}

/** How many later ones are kept, newest first; many more than any rotation replaces. */
const MAX_LATER = 1000;

export function createKnownSecrets(config: Config, env = process.env): KnownSecrets {
  const first = readSecrets(config, env);
  let later: readonly string[] = [];
  let values = first;
  return {
    get values() {
      return values;
    },
    add(more) {
      later = [...new Set([...more, ...later])].slice(0, MAX_LATER);
      values = [...new Set([...first, ...later])].toSorted((one, other) => other.length - one.length);
    },
  };
}

/** Compiles the secrets that must not be in a fixture or a report: sensitive variables, known secrets, and the patterns of the configuration. */
export async function compileKnownSecrets(config: Config, known = createKnownSecrets(config)): Promise<Secrets> {
  const { compileSecrets, listSensitiveValues } = await import('../runs/index.js');
  const { patterns = [] } = config.secrets ?? {};
  let compiled: { readonly from: readonly string[]; readonly secrets: Secrets } | undefined;
  const getSecrets = (): Secrets => {
    const from = known.values;
    if (compiled?.from !== from) {
      compiled = {
        from,
        secrets: compileSecrets({ values: [...listSensitiveValues(process.env), ...from], patterns }),
      };
    }
    return compiled.secrets;
  };
  return {
    createMasker: () => getSecrets().createMasker(),
    mask: (bytes) => getSecrets().mask(bytes),
    maskText: (text) => getSecrets().maskText(text),
  };
}
