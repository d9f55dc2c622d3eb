import { BaseTransformOutputParser, OutputParserException } from '@langchain/core/output_parsers';
import {
  createCommentError,
  createJsonStream,
  parseAsync,
  type ParseOptions,
  type ParseResult,
  type StandardSchema,
} from '../index.js';
import { formatInstructions } from '../schema/index.js';

/**
 * An output parser for LangChain: `prompt.pipe(model).pipe(new SluiceOutputParser(schema))`. `invoke` returns the
 * validated value or throws an `OutputParserException` whose `cause` is the `ParseError`; `stream` yields the growing value, and
 * finally the validated value.
 *
 * @example
 * const parser = new SluiceOutputParser(z.object({ file: z.string(), line: z.int() }))
 * const { file, line } = await prompt.pipe(model).pipe(parser).invoke({ instructions: parser.getFormatInstructions() })
 */
export class SluiceOutputParser<T> extends BaseTransformOutputParser<T> {
  static override lc_name(): string {
    return 'SluiceOutputParser';
  }

  override lc_namespace = ['sluice', 'langchain'];
  readonly #schema: StandardSchema<unknown, T>;
  readonly #options: ParseOptions;

  constructor(schema: StandardSchema<unknown, T>, options: ParseOptions = {}) {
    super({});
    this.#schema = schema;
    this.#options = options;
  }

  override getFormatInstructions(): string {
    return formatInstructions(this.#schema, this.#options);
  }

  override async parse(text: string): Promise<T> {
    return unwrap(await parseAsync(text, this.#schema, this.#options), text, this.#options.label);
  }

  /**
   * Partial values have the type of the complete value, as in LangChain's parsers; only the last value is validated.
   */
  override async *_transform(input: AsyncGenerator<Parameters<this['invoke']>[0]>): AsyncGenerator<T> {
    const stream = createJsonStream(undefined, this.#options);
    let text = '';
    for await (const part of input) {
      const chunk = typeof part === 'string' ? part : part.text;
      text += chunk;
      const { changed } = stream.push(chunk);
      if (changed.length > 0) yield stream.copy() as T;
    }
    yield await this.parse(text);
  }
}

function unwrap<T>(result: ParseResult<T>, text: string, label: string | undefined): T {
  if (result.ok) return result.value;
  const cause = result.status === 'comment' ? createCommentError(label) : result.error;
  // The second message is the observation, which a caller can send back to the model. `false`: agents do not send it
  // automatically.
  throw Object.assign(new OutputParserException(cause.message, text, cause.message, false), { cause });
}
