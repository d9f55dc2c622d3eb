// The build resolves this import to the file's URL; the file itself has no exports.
// oxlint-disable-next-line import/default
import address from './workbench-worker.js?worker&url';

/** The part of the Trusted Types API used here; older browsers do not have it. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/** The page's content security policy allows only this Trusted Types policy, which allows only our worker's URL. */
const policy = (globalThis as { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('sluice-worker', {
  createScriptURL(url) {
    if (url === address) return url;
    throw new TypeError('Only the workbench’s worker may be started.');
  },
});

/** Starts a parser worker. */
export function startWorker(): Worker {
  return new Worker(policy === undefined ? address : policy.createScriptURL(address), { type: 'module' });
}
