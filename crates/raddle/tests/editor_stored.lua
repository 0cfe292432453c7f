-- Drives Neovim for editor.rs: a finding of `raddle run` is shown at its line, moves with it, and goes with it.
-- The environment is that of editor.lua.

local PATIENCE = 120 * 1000

local function fail(what)
  io.stderr:write('FAILED: ' .. what .. '\nshown: ' .. vim.inspect(vim.diagnostic.get(0)) .. '\n')
  vim.cmd 'cquit 1'
end

local function wait_for(what, holds)
  if not vim.wait(PATIENCE, holds, 20) then
    fail(what)
  end
  io.stderr:write('ok: ' .. what .. '\n')
end

-- Whether what a run has found is shown, and at lines that say `counter++` only.
local function shown_at_its_line()
  local found = false
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    if diagnostic.source == 'raddle run' then
      local line = vim.api.nvim_buf_get_lines(0, diagnostic.lnum, diagnostic.lnum + 1, true)[1]
      if not line:match 'counter%+%+' then
        return false
      end
      found = true
    end
  end
  return found
end

local function main()
  -- Without a check of its own: what is shown is what was stored.
  dofile(vim.env.SNIPPET).setup { cmd = { vim.env.RADDLE, 'lsp' }, settings = { enable = false } }
  vim.cmd 'filetype on'
  vim.cmd('edit ' .. vim.env.FILE)
  wait_for('the finding is at its line', shown_at_its_line)
  local before = vim.diagnostic.get(0)[1].lnum

  vim.api.nvim_buf_set_lines(0, 0, 0, true, { '// one', '// two' })
  wait_for('it has moved with its line', function()
    return shown_at_its_line() and vim.diagnostic.get(0)[1].lnum == before + 2
  end)

  vim.cmd [[%s/counter++/__atomic_fetch_add(\&counter, 1, 0)/]]
  wait_for('it is gone with its line', function()
    return #vim.diagnostic.get(0) == 0
  end)
  vim.cmd 'qall!'
end

local ok, why = pcall(main)
if not ok then
  fail(tostring(why))
end
