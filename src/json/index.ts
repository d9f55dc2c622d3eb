export { SluiceError, isSluiceError } from './sluice-error.js';
export type { ParseOptions } from './parse-options.js';
