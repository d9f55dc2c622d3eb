import { SluiceError } from '../base/index.js';

/** A command that was called wrongly: an unknown option, a file that cannot be read, a schema that is none. */
export class MisuseError extends SluiceError<'MISUSE'> {
  override readonly name = 'MisuseError';

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('MISUSE', message, options);
  }
}
