//! What every test begins with: a server, an account on it, and a page that lets nothing pass unseen.

import { AxeBuilder } from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';
import { mkdir } from 'node:fs/promises';

import { Account } from './account';
import { servePage } from './page-server';
import { startServer, type Server } from './server';

export { expect, type Page } from '@playwright/test';
export { Account } from './account';

/** Starts a server with the page in front of it, as the environment has it. */
export async function startAccount(args: readonly string[] = []): Promise<Server> {
  const server = await startServer(args);
  // EXPLORER_PAGE=dist tries a page that the program was not built with yet.
  return process.env['EXPLORER_PAGE'] === 'dist' ? servePage(server) : server;
}

/** Console lines that are no fault of the page: a refused request, which the page tells the reader; styles, see below. */
const EXPECTED = [/^Failed to load resource/, /^Applying inline style violates/];

/** Tells what the policy of the page stopped, but for what browsers themselves put into a field that is edited. */
function tellViolations(): void {
  document.addEventListener('securitypolicyviolation', (event) => {
    const isEditing = event.violatedDirective === 'style-src-attr' && (document.activeElement?.closest('.cm-content') ?? null) !== null;
    if (!isEditing) console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile} ${event.sample}`);
  });
}

/** Fails for what a page must never do: ask or tell by a dialog, throw, or be stopped by its policy. */
export function watch(page: Page): () => void {
  const faults: string[] = [];
  void page.addInitScript(tellViolations);
  page.on('dialog', (dialog) => {
    if (dialog.type() !== 'beforeunload') faults.push(`dialog: ${dialog.message()}`);
    void dialog.accept();
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    const isExpected = EXPECTED.some((one) => one.test(message.text()));
    if (message.type() === 'error' && !isExpected) faults.push(`console: ${message.text()}`);
  });
  return () => expect(faults, 'what the page must not do').toEqual([]);
}

export const test = base.extend<{ page: Page }, { server: Server; account: Account }>({
  server: [
    async ({}, use) => {
      // Against a page that is served already, such as that of the dev server.
      const url = process.env['EXPLORER_URL'];
      const server: Server = url ? { url: new URL(url).origin, stop: () => Promise.resolve() } : await startAccount();
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  account: [
    async ({ server }, use) => {
      await use(new Account(server.url));
    },
    { scope: 'worker' },
  ],
  page: async ({ page }, use) => {
    const check = watch(page);
    await use(page);
    check();
  },
});

/** Rows beyond the first few: they are like those, and looking at each takes long. */
const ALIKE = '.table > .line ~ .line ~ .line ~ .line, .tree .line ~ .line ~ .line ~ .line ~ .line ~ .line ~ .line ~ .line';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];

/** Fails for serious findings about accessibility, with what and where. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).exclude(ALIKE).options({ runOnly: TAGS, resultTypes: ['violations'], iframes: false }).analyze();
  const serious = violations.filter((one) => one.impact === 'serious' || one.impact === 'critical');
  const told = serious.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.target.join(' ')} ${node.failureSummary ?? ''}`).join('; ')}`);
  expect(told).toEqual([]);
}

/** Chooses a theme as a reader does who chose it before. */
export async function setTheme(page: Page, theme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme: theme });
}

/** Takes pictures in both themes and at both widths, for eyes: nothing is compared. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (!process.env['SCREENSHOTS']) return;
  const folder = new URL('../../screenshots/', import.meta.url).pathname;
  await mkdir(folder, { recursive: true });
  for (const theme of ['light', 'dark'] as const) {
    await setTheme(page, theme);
    for (const [width, height] of [[1280, 800], [400, 800]] as const) {
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(150);
      await page.screenshot({ path: `${folder}${name}-${theme}-${width}.png` });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await setTheme(page, 'light');
}
