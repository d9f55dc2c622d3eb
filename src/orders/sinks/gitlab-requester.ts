interface RequesterOptions {
  readonly searchParams?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

interface RequesterAnswer<T> {
  body: T;
  headers: Record<string, string>;
  status: number;
}

interface Connection {
  readonly url: string;
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
}

/**
 * The transport of GitLab's client. Its own repeats a POST up to ten times when it meets a 429 or a 502, which writes a
 * comment twice if the first one was taken; this one sends every request once.
 */
export function createRequester(connection: Connection) {
  const method =
    (name: 'GET' | 'POST') =>
    async <T>(endpoint: string, options: RequesterOptions = {}): Promise<RequesterAnswer<T>> => {
      const response = await connection.fetch(addressOf(connection.url, endpoint, options), {
        method: name,
        headers: { 'private-token': connection.token, 'content-type': 'application/json' },
        ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      });
      // The client states the shape it expects of each answer; the sink checks what it reads of it.
      const body = (await response.json()) as T;
      return { body, headers: Object.fromEntries(response.headers), status: response.status };
    };
  return { get: method('GET'), post: method('POST'), put: refuse, patch: refuse, delete: refuse };
}

function addressOf(base: string, endpoint: string, { searchParams = {} }: RequesterOptions): URL {
  const url = new URL(endpoint, base.endsWith('/') ? base : `${base}/`);
  for (const [key, value] of Object.entries(searchParams)) {
    const name = key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    url.searchParams.set(name, String(value));
  }
  return url;
}

async function refuse(): Promise<never> {
  throw new TypeError('Sinks only read and add comments.');
}
