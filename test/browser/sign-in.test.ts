import { describe, expect, it, onTestFinished } from 'vitest';
import { openLocalToken } from '../../src/server/config/tokens.js';
import { codex } from '../../src/events/contract/translate-lines.contract.js';
import { findViolations } from './check-accessibility.js';
import { session } from './codex-lines.js';
import { waitUntilLoaded } from './wait-until-loaded.js';
import { useConsole } from './use-console.js';

const ADA = 'token-of-ada-0123456789';
const GUEST = 'token-of-guest-0123456789';
const NEW_ADA = 'new-token-of-ada-0123456789';
const ada = { name: 'ada', scopes: ['read', 'run', 'decide'], value: ADA } as const;
const guest = { name: 'guest', scopes: ['read'], value: GUEST } as const;

const app = useConsole(
  async (site) => site.runToEnd({ prints: session(codex.message('Hello to those who may read.')) }),
  { tokens: [ada, guest] },
);

/** The response to a request without a token is 401, which the browser logs too. */
const REFUSED = { mayFail: /401/ };

async function readStatus(token: string): Promise<number> {
  return (await fetch(`${app.site.url}/v1/runs`, { headers: { authorization: `Bearer ${token}` } })).status;
}

describe('a server with tokens', () => {
  it('asks for one, explains a wrong one, and accepts a valid one', async () => {
    const { page } = await app.open('/runs', REFUSED);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    const field = page.getByLabel('Token');
    await field.fill('not-a-token');
    await page.keyboard.press('Enter');
    await page.locator('[aria-invalid=true]').waitFor();
    await expect.poll(async () => page.locator('#token-help').innerText()).toContain('Invalid token');
    await field.fill(ADA);
    await page.keyboard.press('Enter');
    await waitUntilLoaded(page);
    await expect.poll(async () => page.getByRole('heading', { level: 1 }).innerText()).toBe('Runs');
    await page.getByRole('button', { name: 'Sign out ada' }).waitFor();
  });

  it('stores the token where no script can read it, for this tab and the next', async () => {
    const { page } = await app.open('/runs', REFUSED);
    await page.getByLabel('Token').fill(ADA);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out ada' }).waitFor();
    const storedSession = await page.evaluate(() => [
      document.cookie,
      ...Object.values({ ...localStorage, ...sessionStorage }),
    ]);
    expect(storedSession.join()).not.toContain(ADA);
    expect(storedSession[0]).toBe('');
    await page.goto(`/runs/${app.seeds.id}`);
    await page.getByText('Hello to those who may read.').first().waitFor();
  });

  it('is closed again after signing out', async () => {
    const { page } = await app.open('/runs', REFUSED);
    await page.getByLabel('Token').fill(ADA);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out ada' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto('/inbox');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expect.poll(async () => page.getByRole('heading', { name: 'Inbox' }).count()).toBe(0);
  });

  it('asks again on any page once the session has ended', async () => {
    const { page } = await app.open('/runs', REFUSED);
    await page.getByLabel('Token').fill(ADA);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out ada' }).waitFor();
    await page.goto(`/runs/${app.seeds.id}`);
    await page.getByText('Hello to those who may read.').first().waitFor();
    await page.context().clearCookies();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expect.poll(async () => page.getByText('Hello to those who may read.').count()).toBe(0);
  });

  it("accepts a rotated token without a restart: other sessions stay, and the old token's session asks for the new one", async () => {
    const first = await app.open('/runs', REFUSED);
    const second = await app.open('/runs', REFUSED);
    for (const [{ page }, token] of [[first, ADA] as const, [second, GUEST] as const]) {
      await page.getByLabel('Token').fill(token);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
    }
    await first.page.goto(`/runs/${app.seeds.id}?at=c2`);
    await first.page.getByText('Hello to those who may read.').first().waitFor();
    onTestFinished(async () => {
      await app.site.configure({ tokens: [ada, guest] });
      await expect.poll(() => readStatus(ADA)).toBe(200);
    });
    await app.site.configure({ tokens: [{ ...ada, value: NEW_ADA }, guest] });
    // The page detects it by itself, and returns to its previous state.
    await first.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await first.page.getByText('its token was changed or removed').waitFor();
    const field = first.page.getByLabel('Token');
    await field.fill(ADA);
    await first.page.keyboard.press('Enter');
    await first.page.locator('[aria-invalid=true]').waitFor();
    await field.fill(NEW_ADA);
    await first.page.keyboard.press('Enter');
    await first.page.getByText('Hello to those who may read.').first().waitFor();
    expect(new URL(first.page.url()).pathname).toBe(`/runs/${app.seeds.id}`);
    await second.page.reload();
    await second.page.getByRole('button', { name: 'Sign out guest' }).waitFor();
  });

  it('hides actions the token does not allow', async () => {
    const { page } = await app.open('/runs', REFUSED);
    await page.getByLabel('Token').fill(GUEST);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out guest' }).waitFor();
    await waitUntilLoaded(page);
    await expect.poll(async () => page.getByRole('link', { name: 'Start a run' }).count()).toBe(0);
  });
});

describe("a server with its user's token", () => {
  const local = useConsole(async (site) =>
    site.runToEnd({ prints: session(codex.message('Hello to everyone here.')) }),
  );

  it('lets everyone on the host read, and signs in the user who opens the printed address', async () => {
    const { page } = await local.open('/runs', { isSignedOut: true });
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await waitUntilLoaded(page);
    await expect.poll(async () => page.getByRole('link', { name: 'Start a run' }).count()).toBe(0);
    const { value: token } = await openLocalToken(process.env);
    await page.goto('/docs');
    await page.goto(`/runs#token=${token}`);
    await page.getByRole('link', { name: 'Start a run' }).first().waitFor();
    expect(page.url()).not.toContain(token);
    await page.reload();
    await page.getByRole('link', { name: 'Start a run' }).first().waitFor();
  });

  it('explains a wrong token to a user who could read without one', async () => {
    const { page } = await local.open('/runs', { isSignedOut: true, ...REFUSED });
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Token').fill('not-a-token');
    await page.keyboard.press('Enter');
    await page.locator('[aria-invalid=true]').waitFor();
    await waitUntilLoaded(page);
    await expect.poll(async () => page.locator('#token-help').innerText()).toContain('Invalid token');
  });
});
