import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { expect, inject, it, onTestFinished } from 'vitest';
import { findViolations } from './check-accessibility.js';
import { findCutOff } from './find-cut-off.js';
import { walkByKeyboard } from './walk-by-keyboard.js';
import { watchPage } from './watch-page.js';

/** A page with every problem that the tests of the console must find. */
const BAD_PAGE = `<!doctype html><html lang="en"><head><title>Bad</title><link rel="stylesheet" href="/style.css"></head><body>
<main><h1>Bad</h1><p class="faint">Faint words</p><img src="http://evil.example/pixel.png">
<a href="/x" class="unmarked">no mark</a><a href="/x">marked</a><div class="clickable">mouse only</div><button class="far">far</button>
<button tabindex="-1" class="skipped">by arrows</button></main><script>window.pwned = 1</script><script src="/script.js"></script></body></html>`;
const STYLE = `.faint { color: #ddd } .unmarked { outline: none } .clickable { cursor: pointer } .far { position: absolute; left: 2000px }`;
const SCRIPT = `setTimeout(() => { document.querySelector('h1').before('pushed down'); throw new Error('broken') }, 300)`;

/** Opens the bad page under a policy like the console's. */
async function openBadPage() {
  const server = createServer((request, response) => {
    const [type, text] = { '/style.css': ['css', STYLE], '/script.js': ['javascript', SCRIPT] }[request.url ?? ''] ?? [
      'html',
      BAD_PAGE,
    ];
    response.setHeader('content-security-policy', "default-src 'self'");
    response.setHeader('content-type', `text/${type}`);
    response.end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser = await chromium.connect(inject('browserEndpoint'));
  onTestFinished(async () => {
    await browser.close();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const page = await browser.newPage({ locale: 'en-US', viewport: { width: 800, height: 600 } });
  const record = await watchPage(page, url);
  await page.goto(url);
  return { page, record };
}

it('records errors, requests to other hosts, policy violations and layout shifts', async () => {
  const { record } = await openBadPage();
  await expect.poll(() => record.errors.join()).toContain('broken');
  await expect.poll(() => record.shifts.length).toBeGreaterThan(0);
  expect(record.foreignRequests).toEqual(['http://evil.example/pixel.png']);
  await expect
    .poll(() => record.violations.map((text) => text.split(' ')[0]))
    .toEqual(expect.arrayContaining(['img-src', 'script-src-elem']));
});

it('finds axe violations and clipped text', async () => {
  const { page } = await openBadPage();
  const rules = (await findViolations(page)).map((violation) => violation.split(':')[0]);
  expect(rules).toEqual(expect.arrayContaining(['color-contrast', 'image-alt']));
  expect((await findCutOff(page)).join()).toMatch(/horizontally.*far/);
});

it('finds what the keyboard does not reach, and focus that is not visible', async () => {
  const { page } = await openBadPage();
  const { unreached: missed, withoutFocusRing: unseen, mouseOnly, stops } = await walkByKeyboard(page);
  expect(missed).toEqual([]);
  expect(unseen).toEqual([expect.stringContaining('unmarked')]);
  expect(mouseOnly).toEqual([expect.stringContaining('clickable')]);
  expect(stops).toBe(3);
});
