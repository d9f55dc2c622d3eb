import { fromJsonSchema } from 'sluice/json-schema';

interface Guide {
  title: string;
  items: { name: string; rating: number }[];
}

/** The schema that the scripted models are asked for. */
export const guideSchema = fromJsonSchema<Guide>({
  type: 'object',
  properties: {
    title: { type: 'string' },
    items: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, rating: { type: 'number', maximum: 5 } },
        required: ['name', 'rating'],
      },
    },
  },
  required: ['title', 'items'],
});
