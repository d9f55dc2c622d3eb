import { describe, expect, it } from 'vitest';
import { seedHouse } from './seed-house.js';
import { useConsole } from './use-console.js';

describe('the console', () => {
  const house = useConsole(seedHouse);

  it('opens with the runs', async () => {
    const { page } = await house.open('/');
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.title()).toBe('Runs · Sluice');
  });
});
