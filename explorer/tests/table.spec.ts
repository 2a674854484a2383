//! Entities of a table.

import { test } from './support/apis';
import { expect, expectAccessible, shoot, test as withSqlAlone } from './support/fixture';

const HOSTILE = '<img src=x onerror=alert(1)>';

test('entities are found, made, merged, replaced and deleted', async ({ page, account, apis }) => {
  await apis.table('Tables', { TableName: 'people' });
  const typed = {
    'big': '1125899906842624', 'big@odata.type': 'Edm.Int64', 'born': '1973-10-04T00:00:00Z', 'born@odata.type': 'Edm.DateTime',
    'ratio': 3, 'ratio@odata.type': 'Edm.Double', 'married': true,
  };
  await Promise.all(
    Array.from({ length: 60 }, (_, n) => apis.table('people', { PartitionKey: 'a', RowKey: `r${String(n).padStart(2, '0')}`, age: n, name: n === 0 ? HOSTILE : `P${n}`, ...typed })),
  );
  await account.container('TablesDB', 'other');
  await page.goto(account.url('#/db/TablesDB/c/people/items'));
  await page.getByRole('navigation', { name: 'Views of the container' }).getByRole('link', { name: 'Table', exact: true }).click();
  const status = page.locator('.entities-status');
  await expect(status).toContainText('60 entities');
  await page.getByLabel('Entities of a page').selectOption('50');
  await page.getByRole('button', { name: 'Query' }).click();
  await expect(status).toContainText('50 entities');
  await page.getByRole('button', { name: 'Next page' }).click();
  await expect(status).toContainText('60 entities');
  await expect(status).toContainText('2 pages');
  const grid = page.getByRole('grid', { name: 'Entities' });
  for (const title of ['age · Int32', 'big · Int64', 'born · DateTime', 'ratio · Double', 'married · Boolean', 'name · String']) {
    await expect(grid.getByRole('columnheader', { name: title })).toBeVisible();
  }

  await page.getByLabel('Filter', { exact: true }).fill("PartitionKey eq 'a' and age lt 2");
  await page.keyboard.press('Enter');
  await expect(status).toContainText('2 entities');
  await grid.getByRole('row').nth(1).click();
  const pane = page.getByLabel('Chosen entity');
  await expect(pane.getByLabel('Value of name')).toHaveValue(HOSTILE);
  await pane.getByLabel('Value of age').fill('x');
  await expect(pane.getByText('a whole number of 32 bits')).toBeVisible();
  await expect(pane.getByRole('button', { name: 'Merge', exact: true })).toBeDisabled();
  await pane.getByLabel('Value of age').fill('-1');
  await expectAccessible(page);
  await shoot(page, 'table');
  await pane.getByRole('button', { name: 'Merge', exact: true }).click();
  await expect(page.getByText('The entity is merged.')).toBeVisible();
  await expect(grid.getByRole('row').nth(1)).toContainText('-1');

  // Somebody else writes it meanwhile.
  await account.item('TablesDB', 'people', ['a'], { id: 'r00', PartitionKey: 'a', RowKey: 'r00', age: 5 });
  await pane.getByLabel('Value of age').fill('6');
  await pane.getByRole('button', { name: 'Merge', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('412');
  await pane.getByRole('button', { name: 'Read it again' }).click();
  await expect(pane.getByLabel('Value of age')).toHaveValue('5');
  await expect(pane.getByLabel('Value of name')).toBeHidden();
  await pane.getByRole('button', { name: 'Add a property' }).click();
  await pane.getByLabel('Name of property 2').fill("it's");
  await pane.getByLabel("Type of it's").selectOption('Guid');
  await pane.getByRole('button', { name: 'Remove age' }).click();
  await pane.getByLabel('Replace').check();
  await pane.getByRole('button', { name: 'Replace', exact: true }).click();
  await expect(page.getByText('The entity is replaced.')).toBeVisible();
  await expect(pane.getByLabel('Value of age')).toBeHidden();

  await pane.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(status).toContainText('1 entity');
  await page.getByRole('button', { name: 'New entity' }).click();
  const made = page.getByLabel('New entity', { exact: true });
  await made.getByLabel('PartitionKey').fill("a'b");
  await made.getByLabel('RowKey').fill('n/1');
  await made.getByRole('button', { name: 'Insert' }).click();
  // The service permits no such key.
  await expect(page.getByRole('alert')).toBeVisible();
  await made.getByLabel('RowKey').fill('n 1');
  await made.getByRole('button', { name: 'Insert' }).click();
  await expect(page.getByText('The entity is inserted.')).toBeVisible();
  await page.getByLabel('Filter', { exact: true }).fill("PartitionKey eq 'a''b'");
  await page.keyboard.press('Enter');
  await expect(status).toContainText('1 entity');
  await page.getByLabel('Filter', { exact: true }).fill('age gr 1');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toContainText('InvalidInput');
});

test('only tables have the view', async ({ page, account }) => {
  const database = await account.database();
  await account.container(database, 'people', ['/PartitionKey']);
  await page.goto(account.url(`#/db/${database}/c/people/items`));
  const views = page.getByRole('navigation', { name: 'Views of the container' });
  await expect(views.getByRole('link', { name: 'Gremlin' })).toBeVisible();
  await expect(views.getByRole('link', { name: 'Table', exact: true })).toBeHidden();
});

withSqlAlone('views of APIs that the server has not are not offered', async ({ page, account }) => {
  await account.database('TablesDB');
  await account.container('TablesDB', 'people', ['/PartitionKey']);
  await page.goto(account.url('#/db/TablesDB/c/people/items'));
  const views = page.getByRole('navigation', { name: 'Views of the container' });
  await expect(views.getByRole('link', { name: 'Change feed' })).toBeVisible();
  for (const name of ['MongoDB', 'Gremlin', 'Table']) await expect(views.getByRole('link', { name, exact: true })).toBeHidden();
  await page.goto(account.url('#/db/TablesDB/c/people/mongo'));
  await page.getByRole('button', { name: /^Run/ }).click();
  await expect(page.getByRole('alert')).toContainText('404');
});
