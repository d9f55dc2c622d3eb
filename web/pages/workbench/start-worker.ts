// The build resolves this import to the URL of the file, which itself has no exports.
// oxlint-disable-next-line import/default
import address from './workbench-worker.js?worker&url';

/** The part of the Trusted Types API that is used here; older browsers do not have it. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
}

/** The content security policy of the page allows only this policy, which allows only the URL of our worker. */
const policy = (globalThis as { readonly trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('sluice-worker', {
  createScriptURL(url) {
    if (url === address) return url;
    throw new TypeError('Only the worker of the workbench may be started.');
  },
});

/** Starts a worker that parses texts. */
export function startWorker(): Worker {
  return new Worker(policy === undefined ? address : policy.createScriptURL(address), { type: 'module' });
}
