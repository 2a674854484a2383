//! The frame: signing in, the tree, the header, narrow windows.

import { Account, expect, expectAccessible, shoot, startAccount, test, watch } from './support/fixture';
import type { Server } from './support/server';

const KNOWN_KEY = 'C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==';
const KEY = Buffer.from('a key of this test alone, as long as keys are, which is sixty-four').toString('base64');
const READ_KEY = Buffer.from('the key for reading, of this test alone, and just as long as it is').toString('base64');

test.describe('signing in', () => {
  test('where the key is known to all, nobody is asked for it', async ({ page, account }) => {
    await page.goto(account.url());
    await expect(page.getByRole('heading', { name: 'Account', exact: true })).toBeVisible();
    await expect(page.getByText('Full access')).toBeVisible();
  });

  test('who signs out is out, and comes back', async ({ page, account }) => {
    await page.goto(account.url());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expect(page.getByText('no key is needed')).toBeVisible();
    await expect(page.getByRole('tree')).toHaveCount(0);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Sign in without a key' }).click();
    await expect(page.getByRole('heading', { name: 'Account', exact: true })).toBeVisible();
  });

  test.describe('with a key of its own', () => {
    let server: Server;
    test.beforeAll(async () => {
      server = await startAccount(['--key', KEY, '--read-only-key', READ_KEY]);
    });
    test.afterAll(() => server.stop());

    test('asks for the key, and again without losing what was typed', async ({ page }) => {
      const account = new Account(server.url, { key: KEY });
      const database = await account.database();
      await account.container(database, 'c');
      await page.goto(account.url());
      const field = page.getByLabel('Key of the account or resource token');
      await expect(field).toBeFocused();
      await shoot(page, 'sign-in');
      await expectAccessible(page);

      await field.fill(KNOWN_KEY);
      await page.keyboard.press('Enter');
      await expect(page.getByRole('alert')).toBeVisible();
      await field.fill(KEY);
      await page.keyboard.press('Enter');
      await expect(page.getByRole('heading', { name: 'Account', exact: true })).toBeVisible();

      await page.goto(account.url(`#/db/${database}/new-container`));
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill('typed-before');
      await page.getByLabel('Partition key path').fill('/pk');
      await page.context().clearCookies();
      await page.getByRole('button', { name: 'Create container' }).click();
      const dialog = page.getByRole('dialog', { name: 'The session has ended' });
      await expect(dialog).toBeVisible();
      await expectAccessible(page);
      await dialog.getByLabel('Key of the account or resource token').fill(KEY);
      await page.keyboard.press('Enter');
      await expect(dialog).toBeHidden();
      // The request that met the end of the session is made again.
      await expect(page.getByText('This container has no items yet')).toBeVisible();
      await expect(page).toHaveURL(/typed-before\/items/);
    });

    test('the key for reading is offered nothing that changes anything', async ({ page }) => {
      const account = new Account(server.url, { key: KEY });
      const database = await account.database();
      await account.container(database, 'c');
      await account.item(database, 'c', ['a'], { id: 'one', pk: 'a' });
      await page.goto(account.url(`#/db/${database}/c/c/items`));
      await page.getByLabel('Key of the account or resource token').fill(READ_KEY);
      await page.keyboard.press('Enter');
      await expect(page.getByText('Read-only', { exact: true })).toBeVisible();
      await page.getByRole('gridcell', { name: 'one' }).click();
      await expect(page.getByRole('textbox', { name: 'Item as JSON' })).toContainText('one');
      for (const name of ['New item', 'Upload', 'Save', 'Delete', 'New database']) {
        await expect(page.getByRole('button', { name, exact: true })).toHaveCount(0);
      }
      await page.getByRole('link', { name: 'Settings' }).click();
      await expect(page.getByLabel('For all items')).toBeDisabled();
    });

    test('a resource token opens its container', async ({ page }) => {
      const account = new Account(server.url, { key: KEY });
      const database = await account.database();
      await account.container(database, 'c');
      await account.item(database, 'c', ['a'], { id: 'one', pk: 'a' });
      await account.ask('POST', `/dbs/${database}/users`, { id: 'u' });
      const permission = await account.ask('POST', `/dbs/${database}/users/u/permissions`, {
        id: 'p',
        permissionMode: 'Read',
        resource: `dbs/${database}/colls/c`,
      });
      const token = permission.json<{ _token: string }>()._token;
      await page.goto(account.url());
      await page.getByLabel('Key of the account or resource token').fill(token);
      await page.keyboard.press('Enter');
      await expect(page.getByText('Resource token', { exact: true })).toBeVisible();
      await page.getByRole('textbox', { name: 'Database' }).fill(database);
      await page.getByRole('textbox', { name: 'Container' }).fill('c');
      await page.keyboard.press('Enter');
      await expect(page.getByRole('row', { name: /one/ })).toBeVisible();
      await expectAccessible(page);
    });
  });
});

test.describe('the tree', () => {
  test('is walked by keys', async ({ page, account }) => {
    const database = await account.database(account.name('aaa-tree'));
    await account.container(database, 'first');
    await account.container(database, 'second');
    await page.goto(account.url());
    const tree = page.getByRole('tree');
    const active = page.locator('.tree .line.active');
    await expect(tree.getByRole('treeitem', { name: database })).toBeVisible();
    await tree.focus();
    await page.keyboard.press('Home');
    await expect(active).toHaveText(new RegExp(database));
    await page.keyboard.press('ArrowRight');
    await expect(tree.getByRole('treeitem', { name: 'first' })).toBeVisible();
    await page.keyboard.press('ArrowRight');
    await expect(active).toHaveText(/first/);
    await page.keyboard.press('s');
    await expect(active).toHaveText(/second/);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await expect(active).toHaveText(/Items/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(new RegExp(`${database}/c/second/settings`));
    await expect(tree.getByRole('treeitem', { name: 'Settings' })).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('ArrowLeft');
    await expect(active).toHaveText(/second/);
    await page.keyboard.press('ArrowLeft');
    await expect(tree.getByRole('treeitem', { name: 'Settings' })).toHaveCount(0);
  });

  test('finds a name among 220 containers, wherever it lies', async ({ page, account }) => {
    test.slow();
    const database = await account.database(account.name('many'), 25_000);
    for (let at = 0; at < 220; at += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, n) => account.container(database, `c-${at + n}`, ['/pk'], {}, 0)));
    }
    await page.goto(account.url(`#/db/${database}`));
    await expect(page.getByText('220 containers')).toBeVisible();
    // Only the lines that are seen exist.
    expect(await page.getByRole('treeitem').count()).toBeLessThan(80);
    await page.goto(account.url());
    await page.getByLabel('Filter by name').fill('c-217');
    await page.getByRole('treeitem', { name: 'c-217' }).click();
    await expect(page).toHaveURL(/c-217\/items/);
  });
});

test('themes are kept, and follow the system until one is chosen', async ({ page, account }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(account.url());
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.getByRole('button', { name: 'Theme' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Light' }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'light');
});

test('help comes by a key, and leaves the focus where it was', async ({ page, account }) => {
  await page.goto(account.url());
  await expect(page.getByRole('heading', { name: 'Account', exact: true })).toBeVisible();
  const tree = page.getByRole('tree');
  await tree.focus();
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(help).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(help).toBeHidden();
  await expect(tree).toBeFocused();
  await page.locator('body').press('/');
  await expect(page.getByLabel('Filter by name')).toBeFocused();
});

test('in a narrow window the tree is a drawer', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'c');
  await page.setViewportSize({ width: 400, height: 800 });
  await page.goto(account.url(`#/db/${database}`));
  await expect(page.getByRole('tree')).toHaveCount(0);
  await page.getByRole('button', { name: 'Databases and containers' }).click();
  await expect(page.getByRole('tree')).toBeVisible();
  await page.getByRole('treeitem', { name: 'c', exact: true }).click();
  await expect(page.getByRole('tree')).toHaveCount(0);
  await expect(page.getByText('This container has no items yet')).toBeVisible();
  // Nothing makes the page wider than the window.
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(400);
  await expectAccessible(page);
});

test('an empty account offers its first container', async ({ browser }) => {
  const server = await startAccount();
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    const check = watch(page);
    const account = new Account(server.url);
    await page.goto(account.url());
    await shoot(page, 'empty');
    await page.getByLabel('Name of the database').fill('shop');
    await page.keyboard.press('Enter');
    await page.getByLabel('Name of the container').fill('orders');
    await page.getByLabel('Partition key').fill('/customerId');
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/#\/db\/shop\/c\/orders\/items/);
    await expect(page.getByText('This container has no items yet')).toBeVisible();
    await expect(page.getByRole('treeitem', { name: 'orders' })).toBeVisible();
    check();
  } finally {
    await context.close();
    await server.stop();
  }
});
