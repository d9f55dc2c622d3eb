import { fileURLToPath } from 'node:url';

const getFile = (name: string): string => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));

/** The certificate of a server on this host, and the authority that signed it. */
export const CERTIFICATE = { cert: getFile('cert.pem'), key: getFile('key.pem') };
export const AUTHORITY = getFile('ca.pem');
/** A token with the scope `worker`. */
export const WORKER_TOKEN = 'fleet-token-0123456789abcdef0123456789';
