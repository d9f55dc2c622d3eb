/**
 * Where an address really leads, as the browser reads it, so that a host that looks like another one shows its true letters;
 * null for everything that is no page of the web.
 *
 * @example
 * webAddress('https://еxample.com') // 'https://xn--xample-2of.com/'
 * webAddress('javascript:alert(1)') // null
 */
export function webAddress(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { protocol, href } = new URL(address);
  return protocol === 'http:' || protocol === 'https:' ? href : null;
}
