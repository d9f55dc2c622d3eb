/** The output of a scripted model. */
export interface Script {
  /** Sent on the provider's channel for thoughts, before the text. */
  readonly thinking?: string;
  readonly text: string;
  /** The rest: more text, after waiting for the client to disconnect; or the provider's error. */
  readonly then?:
    | { readonly kind: 'more'; readonly text: string }
    | { readonly kind: 'error'; readonly message: string };
}

/** Three models to call by name. */
export const SCRIPTS = {
  chatty: {
    thinking: 'They want a guide: {"title": "…", "items": []}.',
    text: [
      'Sure, a {short} guide:\n\n```json\n',
      String.raw`{"title": "Caf\u00e9s of \"Köln\" \ud83d\ude80", "items": [`,
      String.raw`{"name": "Zoë ☕ 👩‍🍳", "rating": 4.5}, {"name": "喫茶店\n(upstairs)", "rating": 5}]}`,
    ].join(''),
    then: { kind: 'more', text: '\n```\nShall I tell you how coffee came to Europe? It was in the year…' },
  },
  wrong: {
    text: '<think>Ratings go to {"rating": 5}?</think>{"title": "Bars", "items": [{"name": "Päff", "rating": 11}',
    then: { kind: 'more', text: ', {"name": "Ünder", "rating": 2}]}' },
  },
  failing: {
    text: '{"title": "Parks", "items": [{"name": "Volksgarten", "rating": 4}',
    then: { kind: 'error', message: 'Overloaded' },
  },
} as const satisfies Record<string, Script>;
