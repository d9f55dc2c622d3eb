// The build answers this name with an address; the file itself has no exports.
// oxlint-disable-next-line import/default
import address from './workbench-worker.js?worker&url';

/** The part of the browser's trusted types that is used here; older browsers have none. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/** The content security policy of the page names only this policy, which allows one address: that of our own file. */
const policy = (globalThis as { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('sluice-worker', {
  createScriptURL(url) {
    if (url === address) return url;
    throw new TypeError('only the worker of the workbench may be started');
  },
});

/** Starts a worker that reads texts. */
export function startWorker(): Worker {
  return new Worker(policy === undefined ? address : policy.createScriptURL(address), { type: 'module' });
}
