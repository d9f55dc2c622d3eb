/** The protocols that git may use. */
const PROTOCOLS = ['https:', 'http:', 'ssh:', 'file:'];

/** Returns the problem with a repository URL, or undefined if it is valid. */
export function findUrlProblem(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'use a URL such as https://git.example.org/team/shop.git';
  }
  if (!PROTOCOLS.includes(url.protocol)) return 'use https, http, ssh or file';
  if (url.password !== '' || (url.username !== '' && url.protocol !== 'ssh:')) {
    return 'omit user and password; set token_env in the configuration to the name of a variable with the password';
  }
  if (url.search !== '' || url.hash !== '') return 'omit the query and the fragment';
  if (url.protocol === 'file:' ? url.host !== '' : url.hostname === '' || url.hostname.startsWith('-')) {
    return 'the host is invalid';
  }
  return undefined;
}
