-- Drives Neovim for editor.rs: a hunt and the store fill the quickfix list, and an entry's schedule is replayed.
-- The environment is that of editor.lua; the present folder is that of the program.

local PATIENCE = 240 * 1000

local function fail(what)
  io.stderr:write('FAILED: ' .. what .. '\nlist: ' .. vim.inspect(vim.fn.getqflist()) .. '\n')
  vim.cmd 'cquit 1'
end

local function wait_for(what, holds)
  if not vim.wait(PATIENCE, holds, 20) then
    fail(what)
  end
  io.stderr:write('ok: ' .. what .. '\n')
end

-- The first entry of the list whose text has this, and its place in the list.
local function entry(pattern)
  for at, item in ipairs(vim.fn.getqflist()) do
    if item.text:match(pattern) then
      return item, at
    end
  end
end

-- The entry is at this line of the program.
local function is_at(item, pattern)
  if not item or item.bufnr == 0 then
    return false
  end
  vim.fn.bufload(item.bufnr)
  local line = vim.api.nvim_buf_get_lines(item.bufnr, item.lnum - 1, item.lnum, true)[1]
  return line:match(pattern) ~= nil
end

local function main()
  local told = {}
  vim.notify = function(text)
    table.insert(told, text)
  end
  dofile(vim.env.SNIPPET).setup { cmd = { vim.env.RADDLE, 'lsp' } }

  vim.cmd 'RaddleHunt no_such_program'
  wait_for('a hunt that cannot be done says why', function()
    return told[2] ~= nil and told[2]:match 'no_such_program' ~= nil
  end)

  vim.cmd('edit ' .. vim.env.FILE)
  vim.cmd 'RaddleHunt --seconds 200 -- ./race'
  wait_for('the hunt has filled the list', function()
    return is_at(entry '^confirmed data race on `counter`', 'counter%+%+')
  end)
  if vim.bo.buftype ~= 'quickfix' or vim.fn.getqflist({ title = 0 }).title ~= 'raddle hunt --seconds 200 -- ./race' then
    fail 'the list is open, and its title says where it is from'
  end
  if not is_at(entry '^  earlier: T%d', 'counter%+%+') then
    fail 'each place of the finding has an entry'
  end

  local _, at = entry '^confirmed data race'
  vim.api.nvim_win_set_cursor(0, { at, 0 })
  vim.cmd 'RaddleReplay'
  wait_for('the failure is replayed in a terminal', function()
    local shown = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n')
    return vim.bo.buftype == 'terminal' and shown:match 'confirmed data race' ~= nil
  end)

  vim.cmd 'cclose'
  vim.fn.setqflist({}, 'r')
  vim.cmd('edit ' .. vim.env.FILE)
  vim.cmd 'RaddleFindings'
  wait_for('the store has it too', function()
    return is_at(entry '^confirmed data race on `counter`', 'counter%+%+')
  end)
  vim.cmd 'qall!'
end

local ok, why = pcall(main)
if not ok then
  fail(tostring(why))
end
