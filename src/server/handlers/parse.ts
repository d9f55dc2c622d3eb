import { toParseOutput } from '../../api/index.js';
import { parse } from '../../json/index.js';
import { createSchemaShelf } from '../schema-shelf.js';
import { RequestError } from '../request-error.js';
import type { Handlers } from '../route.js';
import type { ServerContext } from '../server-context.js';

/** Parsing, for whoever has no JavaScript at hand. */
export function createParseHandlers({ meter }: ServerContext): Pick<Handlers, 'parse'> {
  const shelf = createSchemaShelf();
  return {
    async parse({ body }) {
      const { text, schema, profile = 'default', allow_partial: allowPartial = false, align = false, prefer } = body;
      if (align && schema === undefined) throw new RequestError('INVALID_BODY', 'align needs a schema to align to.');
      const compiled = schema === undefined ? undefined : shelf.take(schema);
      const result = parse(text, compiled, {
        profile,
        allowPartial,
        align,
        ...(prefer === undefined ? {} : { prefer }),
      });
      meter.parsed(result);
      return toParseOutput(result);
    },
  };
}
